// Puts the octets of RDMA Writes together.
#include "conformance/pnfs/reply_chunk.h"

#include <algorithm>

namespace steertag::conformance {

bool ReplyChunk::take(const trace::RdmaWrite& write) {
  std::uint64_t begin = 0;  // of the segment, in the chunk
  for (const wire::Segment& segment : segments_) {
    const std::uint64_t at = write.offset - segment.offset;
    if (segment.handle != write.stag || at >= segment.length) {
      begin += segment.length;
      continue;
    }
    const View payload =
        write.payload.first(std::min<std::uint64_t>(write.payload.size(), segment.length - at));
    const std::uint64_t end = begin + at + payload.size();
    if (end <= kMostReplyChunkOctets) {
      octets_.resize(std::max<std::size_t>(octets_.size(), end));
      std::ranges::copy(payload, octets_.begin() + static_cast<std::ptrdiff_t>(begin + at));
      seen_ += payload.size();
    }
    return true;
  }
  return false;
}

std::optional<Bytes> ReplyChunk::message(std::span<const wire::Segment> returned) const {
  if (returned.size() > segments_.size() || wire::chunk_length(returned) > seen_) {
    return std::nullopt;
  }
  Bytes message;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    const std::uint32_t length = returned[i].length;
    if (length > segments_[i].length) return std::nullopt;
    if (length > 0) {
      if (begin + length > octets_.size()) return std::nullopt;
      const auto first = octets_.begin() + static_cast<std::ptrdiff_t>(begin);
      message.insert(message.end(), first, first + length);
    }
    begin += segments_[i].length;
  }
  return message;
}

}  // namespace steertag::conformance
