// The memory that a requester's calls of one direction offer, by steering tag.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/slots.h"

namespace steertag::conformance {

/// At most this many segments in one direction; a 256 KiB Send holds at most 16384. Beyond it the
/// direction's history is incomplete.
inline constexpr std::size_t kMostOffers = 65536;
/// At most this many steering tags of finished calls, to tell late access from wrong access.
inline constexpr std::size_t kMostWithdrawn = 256;

enum class OfferKind : std::uint8_t { read, write, reply };

/// One segment that a call offers.
struct Offer {
  std::uint32_t stag = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
  OfferKind kind = OfferKind::read;
  std::uint32_t call = 0;     // pool index of the call
  std::uint32_t segment = 0;  // index into Call::placed, except for read segments

  bool holds(std::uint64_t at) const { return at - offset < length; }
  std::uint64_t left(std::uint64_t at) const { return length - (at - offset); }
};

class OfferTable {
 public:
  /// Returns the id of the new entry, or nothing if the table is full.
  std::optional<std::uint32_t> add(const Offer& offer);
  /// Ends the offer. The table remembers the steering tag and `xid`.
  void withdraw(std::uint32_t id, std::uint32_t xid);
  /// The XID of the latest finished call with an offer under the steering tag.
  std::optional<std::uint32_t> withdrawn(std::uint32_t stag) const;

  /// Calls `visit(const Offer&)` for each offer under the steering tag.
  template <class Visit>
  void each(std::uint32_t stag, Visit visit) const {
    if (heads_.empty()) return;
    for (std::uint32_t id = heads_[heads_.home(stag)]; id != kNone; id = nodes_[id].next) {
      if (nodes_[id].offer.stag == stag) visit(nodes_[id].offer);
    }
  }
  std::size_t size() const { return used_; }
  std::size_t kept_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  static constexpr std::uint32_t kNone = Slots::kFree;
  struct Node {
    Offer offer;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
  };
  struct Withdrawn {
    std::uint32_t stag = 0;
    std::uint32_t xid = 0;
  };

  void link(std::uint32_t id);
  void grow();

  Slots heads_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
  std::array<Withdrawn, kMostWithdrawn> withdrawn_{};
  std::size_t withdrawn_count_ = 0;  // in total
};

}  // namespace steertag::conformance
