// Hash chains over pooled nodes.
//
// The chains are doubly linked, because a hostile requester may use one steering tag for
// everything.
#include "conformance/offer_table.h"

#include <algorithm>

namespace steertag::conformance {

void OfferTable::link(std::uint32_t id) {
  std::uint32_t& head = heads_[heads_.home(nodes_[id].offer.stag)];
  nodes_[id].previous = kNone;
  nodes_[id].next = head;
  if (head != kNone) nodes_[head].previous = id;
  head = id;
}

std::optional<std::uint32_t> OfferTable::add(const Offer& offer) {
  if (used_ == kMostOffers) return std::nullopt;
  if (used_ >= heads_.size()) grow();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  nodes_[id].offer = offer;
  link(id);
  ++used_;
  return id;
}

void OfferTable::withdraw(std::uint32_t id, std::uint32_t xid) {
  const Node& node = nodes_[id];
  if (node.previous == kNone) {
    heads_[heads_.home(node.offer.stag)] = node.next;
  } else {
    nodes_[node.previous].next = node.next;
  }
  if (node.next != kNone) nodes_[node.next].previous = node.previous;
  withdrawn_[withdrawn_count_++ % kMostWithdrawn] = {node.offer.stag, xid};
  free_.push_back(id);
  --used_;
}

std::optional<std::uint32_t> OfferTable::withdrawn(std::uint32_t stag) const {
  const std::size_t kept = std::min(withdrawn_count_, kMostWithdrawn);
  for (std::size_t back = 1; back <= kept; ++back) {
    const Withdrawn& entry = withdrawn_[(withdrawn_count_ - back) % kMostWithdrawn];
    if (entry.stag == stag) return entry.xid;
  }
  return std::nullopt;
}

void OfferTable::grow() {
  for (std::uint32_t id : heads_.grow()) {
    while (id != kNone) {
      const std::uint32_t next = nodes_[id].next;
      link(id);
      id = next;
    }
  }
}

}  // namespace steertag::conformance
