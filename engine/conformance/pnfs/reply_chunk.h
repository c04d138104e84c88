// The reply of one call, as RDMA Writes bring it into the reply chunk (RFC 8166 3.5.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/bytes.h"
#include "trace/event.h"
#include "wire/header.h"

namespace steertag::conformance {

/// Octets of a reply chunk that are kept. A longer reply is not read.
inline constexpr std::size_t kMostReplyChunkOctets = std::size_t{256} << 10;

class ReplyChunk {
 public:
  /// The segments that the call offers.
  explicit ReplyChunk(std::span<const wire::Segment> segments)
      : segments_(segments.begin(), segments.end()) {}

  /// Whether it goes to this chunk.
  bool take(const trace::RdmaWrite& write);
  /// The message in the segments that the reply returns. Nothing if any of it was not seen.
  std::optional<Bytes> message(std::span<const wire::Segment> returned) const;

 private:
  std::vector<wire::Segment> segments_;
  Bytes octets_;  // of all segments, one after the other
  std::uint64_t seen_ = 0;
};

}  // namespace steertag::conformance
