// The segments that the outstanding calls of one direction offer, by steering tag.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/slots.h"

namespace steertag::conformance {

/// At most this many segments in one direction; a 256 KiB Send holds at most 16384. Beyond it the
/// direction's history is incomplete.
inline constexpr std::size_t kMostOfferedSegments = 65536;
/// At most this many steering tags of finished calls, to tell late access from wrong access.
inline constexpr std::size_t kMostFinishedTags = 256;

enum class SegmentKind : std::uint8_t { read, write, reply };

/// One segment that a call offers.
struct OfferedSegment {
  std::uint32_t stag = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
  SegmentKind kind = SegmentKind::read;
  std::uint32_t call = 0;    // pool index of the call
  std::uint32_t placed = 0;  // index into Call::placed, except for read segments

  bool holds(std::uint64_t at) const { return at - offset < length; }
  std::uint64_t left(std::uint64_t at) const { return length - (at - offset); }
};

class SegmentTable {
 public:
  /// Returns the id of the new entry, or nothing if the table is full.
  std::optional<std::uint32_t> add(const OfferedSegment& segment);
  /// The call is over. The table remembers the steering tag and `xid`.
  void remove(std::uint32_t id, std::uint32_t xid);
  /// The XID of the latest finished call with a segment under the steering tag.
  std::optional<std::uint32_t> finished_call(std::uint32_t stag) const;

  /// Calls `visit(const OfferedSegment&)` for each segment under the steering tag.
  template <class Visit>
  void each(std::uint32_t stag, Visit visit) const {
    if (heads_.empty()) return;
    for (std::uint32_t id = heads_[heads_.home(stag)]; id != kNone; id = nodes_[id].next) {
      if (nodes_[id].segment.stag == stag) visit(nodes_[id].segment);
    }
  }
  std::size_t size() const { return used_; }
  std::size_t kept_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  static constexpr std::uint32_t kNone = Slots::kFree;
  struct Node {
    OfferedSegment segment;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
  };
  struct FinishedTag {
    std::uint32_t stag = 0;
    std::uint32_t xid = 0;
  };

  void link(std::uint32_t id);
  void grow();

  Slots heads_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
  std::array<FinishedTag, kMostFinishedTags> finished_{};
  std::size_t finished_count_ = 0;  // in total
};

}  // namespace steertag::conformance
