// Chunk marshalling: from chunk lists to the RDMA Reads that rebuild a call.
// From result octets to the RDMA Writes that fill a chunk.
#pragma once

#include <span>
#include <vector>

#include "support/bytes.h"
#include "wire/header.h"

namespace steertag::peer {

/// The read segments of one position (RFC 8166 3.4.5). `length` in octets is their sum.
struct ReadChunk {
  std::uint32_t position = 0;
  std::size_t segments = 0;
  std::uint64_t length = 0;
};

struct RemoteRead {
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
};

struct LocalCopy {
  std::uint64_t sink_offset = 0;
  View from;
};

enum class PullFault : std::uint8_t {
  none,
  too_complex,        // more chunks or segments than the named limits
  too_large,          // the rebuilt call is larger than the limit
  no_payload,         // RDMA_NOMSG without a Position Zero chunk that holds octets
  double_payload,     // a Position Zero chunk beside an inline payload stream
  position_too_high,  // a chunk starts beyond the end of the payload stream
  position_overlaps,  // a chunk starts inside the one before it
};

/// How to rebuild a call in one contiguous sink of `size` octets. Every octet comes from one of the
/// reads or copies, or is roundup (zero). The payload is read straight to its final place.
struct PullPlan {
  std::uint64_t size = 0;
  std::vector<ReadChunk> chunks;  // in ascending position, the Position Zero chunk not among them
  std::vector<RemoteRead> reads;
  std::vector<LocalCopy> copies;
  std::vector<LocalCopy> roundups;  // `from` are zeros

  void clear();
};

/// Plans how to rebuild the call whose header holds `read_list` and whose inline payload stream is
/// `payload` (empty for RDMA_NOMSG). RFC 8166 3.4.5: items are inserted by position in the
/// unreduced stream, segments of a position concatenated in list order.
PullFault plan_pull(std::span<const wire::ReadSegment> read_list, View payload,
                    std::uint64_t largest, PullPlan& plan);

struct RemoteWrite {
  View from;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  bool goes_on = false;  // where the write before it ended, in the same segment
};

/// Of the writes, those at the front that one RDMA Write of at most `most_parts` can make.
std::size_t joined_writes(std::span<const RemoteWrite> writes, std::size_t most_parts);

/// Spreads the concatenation of `parts` over the segments in order, each filled before the next
/// (RFC 8166 3.4.6). Appends the writes to `out`, and sets each segment's length to the octets
/// placed in it. The chunk must be large enough: check with wire::chunk_length.
void fill_chunk(std::span<const View> parts, std::span<wire::Segment> segments,
                std::vector<RemoteWrite>& out);

/// Sets every length to zero: the chunk as it is returned unused (RFC 8166 4.3.2.2).
void mark_unused(std::span<wire::Segment> segments);

std::uint64_t total_length(std::span<const View> parts);

}  // namespace steertag::peer
