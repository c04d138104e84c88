// Deviations in where a read chunk may begin and end.
#include <algorithm>

#include "deviations/families.h"
#include "nfs/eligible_items.h"

namespace steertag::deviations {
namespace {

/// A place that is no farther than this from the end of a segment is taken for that end.
constexpr std::uint64_t kNear = 4;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a < b ? b - a : a - b;
}

/// In a long call the first chunk that is not at position zero is put to an end of a segment that
/// is near.
void put_at_segment_end(Arriving& arriving) {
  wire::Header header;
  if (!wire::decode(arriving.message(), header) || header.proc != wire::Procedure::nomsg) return;
  std::uint32_t place = 0;
  for (const wire::ReadSegment& segment : header.read_list) {
    if (segment.position != 0 && (place == 0 || segment.position < place)) place = segment.position;
  }
  std::uint64_t end = 0;
  std::uint32_t nearest = place;
  for (const wire::ReadSegment& segment : header.read_list) {
    if (segment.position != 0) continue;
    end += segment.target.length;
    if (distance(end, place) <= kNear) nearest = static_cast<std::uint32_t>(end);
  }
  if (nearest == place) return;
  for (wire::ReadSegment& segment : header.read_list) {
    if (segment.position == place) segment.position = nearest;
  }
  Bytes message;
  wire::encode(header, message);
  arriving.replace(std::move(message));
}

bool holds(const peer::ReadChunk& chunk, const nfs::EligibleItem& item) {
  return chunk.position <= item.position &&
         chunk.position + chunk.length >= item.position + item.length;
}

bool is_part(const peer::ReadChunk& chunk, const nfs::EligibleItem& item) {
  return chunk.length < item.length && chunk.position >= item.position &&
         chunk.position + chunk.length <= item.position + item.length;
}

void take_around(peer::CallStep& call) {
  if (call.chunks.size() != 1) return;
  const auto items = nfs::eligible_arguments(call.message, {});
  if (items.size() == 1 && holds(call.chunks.front(), items.front())) call.chunks = {};
}

/// The rest of the item is zeros.
void take_part(peer::CallStep& call) {
  if (call.chunks.size() != 1) return;
  const peer::ReadChunk& chunk = call.chunks.front();
  const auto items = nfs::eligible_arguments(call.message, {});
  if (items.size() != 1 || !is_part(chunk, items.front())) return;
  const nfs::EligibleItem& item = items.front();
  Bytes& message = call.instead.emplace(call.message.begin(), call.message.end());
  const auto at = [&](std::uint64_t place) {
    return message.begin() + static_cast<std::ptrdiff_t>(place);
  };
  std::fill(at(item.position), at(chunk.position), std::byte{0});
  std::fill(at(chunk.position + chunk.length), at(item.position + item.length), std::byte{0});
  call.chunks = {};
}

constexpr Deviation kChunkPlaces[] = {
    {.name = "chunk-put-at-segment-end",
     .breaks = {"RFC8166-3.4.5-5"},
     .sentence =
         "In a long call a read chunk goes to the end of a position-zero segment that is no "
         "more than a word away.",
     .server = {.arrival = put_at_segment_end},
     .script_shows = false},
    {.name = "chunk-around-item-taken",
     .breaks = {"RFC8166-6.1-3"},
     .sentence = "A read chunk with an item and octets beside it is taken.",
     .server = {.call = take_around},
     .script_shows = false},
    {.name = "part-of-item-taken",
     .breaks = {"RFC8166-3.4.5-5"},
     .sentence = "A read chunk with a part of an item is taken, and the rest of the item is zeros.",
     .server = {.call = take_part},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> chunk_places_family() {
  return kChunkPlaces;
}

}  // namespace steertag::deviations
