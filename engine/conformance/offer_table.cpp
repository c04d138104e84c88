// Hash chains over pooled nodes; the chains are doubly linked because a hostile requester may put
// everything under one steering tag.
#include "conformance/offer_table.h"

#include <algorithm>

namespace steertag::conformance {

namespace {

constexpr std::size_t kFirstBuckets = 256;
constexpr std::uint32_t kGoldenRatio = 0x9e3779b1;  // Fibonacci hashing

}  // namespace

std::size_t OfferTable::bucket(std::uint32_t stag) const {
  const std::uint32_t mixed = stag * kGoldenRatio;
  return (mixed ^ (mixed >> 15)) & (heads_.size() - 1);
}

void OfferTable::link(std::uint32_t id) {
  std::uint32_t& head = heads_[bucket(nodes_[id].offer.stag)];
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
    heads_[bucket(node.offer.stag)] = node.next;
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
  std::vector<std::uint32_t> old(heads_.empty() ? kFirstBuckets : heads_.size() * 2, kNone);
  old.swap(heads_);
  for (std::uint32_t id : old) {
    while (id != kNone) {
      const std::uint32_t next = nodes_[id].next;
      link(id);
      id = next;
    }
  }
}

}  // namespace steertag::conformance
