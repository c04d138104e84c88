// Chunk marshalling.
#include "endpoint/chunk.h"

#include <algorithm>
#include <array>

#include "endpoint/limits.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, 4> kZeros{};

/// The payload stream that is left after reduction: inline octets, or the segments of a Position
/// Zero chunk, consumed from the front.
class Base {
 public:
  Base(View payload, std::span<const wire::ReadSegment> read_list, std::uint64_t zero_length)
      : payload_(payload), read_list_(read_list), left_(payload.size() + zero_length) {}

  std::uint64_t left() const { return left_; }

  void take(std::uint64_t count, PullPlan& plan) {
    if (count == 0) return;
    left_ -= count;
    if (!payload_.empty()) {
      plan.copies.push_back({plan.size, payload_.first(count)});
      payload_ = payload_.subspan(count);
      plan.size += count;
      return;
    }
    while (count > 0) {
      const wire::ReadSegment& segment = read_list_[next_];
      const std::uint32_t rest = segment.position == 0 ? segment.target.length - within_ : 0;
      const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, rest));
      if (length > 0) {
        plan.reads.push_back(
            {plan.size, length, segment.target.handle, segment.target.offset + within_});
        plan.size += length;
        count -= length;
        within_ += length;
      }
      if (length == rest) ++next_, within_ = 0;
    }
  }

 private:
  View payload_;
  std::span<const wire::ReadSegment> read_list_;
  std::uint64_t left_;
  std::size_t next_ = 0;
  std::uint32_t within_ = 0;
};

/// Groups the read list by position. Returns the Position Zero chunk apart from the others.
PullFault group(std::span<const wire::ReadSegment> read_list, std::vector<ReadChunk>& chunks,
                ReadChunk& zero) {
  for (const wire::ReadSegment& segment : read_list) {
    ReadChunk* chunk = &zero;
    if (segment.position != 0) {
      const auto known = std::find_if(chunks.begin(), chunks.end(), [&](const ReadChunk& other) {
        return other.position == segment.position;
      });
      if (known == chunks.end()) {
        if (chunks.size() == kMostChunks) return PullFault::too_complex;
        chunks.push_back({segment.position, 0, 0});
        chunk = &chunks.back();
      } else {
        chunk = &*known;
      }
    }
    if (++chunk->segments > kMostSegmentsPerChunk) return PullFault::too_complex;
    chunk->length += segment.target.length;
  }
  std::sort(chunks.begin(), chunks.end(),
            [](const ReadChunk& a, const ReadChunk& b) { return a.position < b.position; });
  return PullFault::none;
}

void place_chunk(std::span<const wire::ReadSegment> read_list, const ReadChunk& chunk,
                 PullPlan& plan) {
  for (const wire::ReadSegment& segment : read_list) {
    if (segment.position != chunk.position || segment.target.length == 0) continue;
    plan.reads.push_back(
        {plan.size, segment.target.length, segment.target.handle, segment.target.offset});
    plan.size += segment.target.length;
  }
  const std::size_t roundup = wire::roundup4(chunk.length) - chunk.length;
  if (roundup == 0) return;
  plan.roundups.push_back({plan.size, View(kZeros).first(roundup)});
  plan.size += roundup;
}

}  // namespace

void PullPlan::clear() {
  size = 0;
  chunks.clear();
  reads.clear();
  copies.clear();
  roundups.clear();
}

PullFault plan_pull(std::span<const wire::ReadSegment> read_list, View payload,
                    std::uint64_t largest, PullPlan& plan) {
  plan.clear();
  ReadChunk zero;
  if (const PullFault fault = group(read_list, plan.chunks, zero); fault != PullFault::none)
    return fault;
  if (!payload.empty() && zero.segments > 0) return PullFault::double_payload;
  if (payload.empty() && zero.length == 0) return PullFault::no_payload;
  std::uint64_t total = payload.size() + zero.length;
  for (const ReadChunk& chunk : plan.chunks) total += wire::roundup4(chunk.length);
  if (total > largest) return PullFault::too_large;

  Base base(payload, read_list, zero.length);
  for (const ReadChunk& chunk : plan.chunks) {
    if (chunk.position < plan.size) return PullFault::position_overlaps;
    const std::uint64_t before = chunk.position - plan.size;
    if (before > base.left()) return PullFault::position_too_high;
    base.take(before, plan);
    place_chunk(read_list, chunk, plan);
  }
  base.take(base.left(), plan);
  return PullFault::none;
}

std::uint64_t total_length(std::span<const View> parts) {
  std::uint64_t total = 0;
  for (const View part : parts) total += part.size();
  return total;
}

void mark_unused(std::span<wire::Segment> segments) {
  for (wire::Segment& segment : segments) segment.length = 0;
}

std::size_t joined_writes(std::span<const RemoteWrite> writes, std::size_t most_parts) {
  std::size_t count = 1;
  while (count < std::min(writes.size(), most_parts) && writes[count].goes_on) ++count;
  return count;
}

void fill_chunk(std::span<const View> parts, std::span<wire::Segment> segments,
                std::vector<RemoteWrite>& out) {
  std::size_t at = 0;
  std::uint32_t placed = 0;  // octets already in the current segment
  for (View part : parts) {
    while (!part.empty() && at < segments.size()) {
      wire::Segment& segment = segments[at];
      const auto length =
          static_cast<std::uint32_t>(std::min<std::size_t>(part.size(), segment.length - placed));
      if (length > 0)
        out.push_back({part.first(length), segment.handle, segment.offset + placed, placed > 0});
      part = part.subspan(length);
      placed += length;
      if (placed == segment.length) ++at, placed = 0;
    }
  }
  if (at < segments.size()) {
    segments[at].length = placed;
    mark_unused(segments.subspan(at + 1));
  }
}

}  // namespace steertag::peer
