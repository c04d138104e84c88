// Hash chains over pooled nodes.
//
// The chains are doubly linked, because a hostile requester may use one steering tag for
// everything.
#include "conformance/segment_table.h"

#include <algorithm>

namespace steertag::conformance {

void SegmentTable::link(std::uint32_t id) {
  std::uint32_t& head = heads_[heads_.home(nodes_[id].segment.stag)];
  nodes_[id].previous = kNone;
  nodes_[id].next = head;
  if (head != kNone) nodes_[head].previous = id;
  head = id;
}

std::optional<std::uint32_t> SegmentTable::add(const OfferedSegment& segment) {
  if (used_ == kMostOfferedSegments) return std::nullopt;
  if (used_ >= heads_.size()) grow();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  nodes_[id].segment = segment;
  link(id);
  ++used_;
  return id;
}

void SegmentTable::remove(std::uint32_t id, std::uint32_t xid) {
  const Node& node = nodes_[id];
  if (node.previous == kNone) {
    heads_[heads_.home(node.segment.stag)] = node.next;
  } else {
    nodes_[node.previous].next = node.next;
  }
  if (node.next != kNone) nodes_[node.next].previous = node.previous;
  finished_[finished_count_++ % kMostFinishedTags] = {node.segment.stag, xid};
  free_.push_back(id);
  --used_;
}

std::optional<std::uint32_t> SegmentTable::finished_call(std::uint32_t stag) const {
  const std::size_t kept = std::min(finished_count_, kMostFinishedTags);
  for (std::size_t back = 1; back <= kept; ++back) {
    const FinishedTag& entry = finished_[(finished_count_ - back) % kMostFinishedTags];
    if (entry.stag == stag) return entry.xid;
  }
  return std::nullopt;
}

void SegmentTable::grow() {
  for (std::uint32_t id : heads_.grow()) {
    while (id != kNone) {
      const std::uint32_t next = nodes_[id].next;
      link(id);
      id = next;
    }
  }
}

}  // namespace steertag::conformance
