// Deviations that only chunks of some sizes show: more than a page, a mebibyte, many segments.
#include <algorithm>
#include <map>

#include "deviations/families.h"
#include "deviations/server/chunks/chunk_writes.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kPage = 4096;
/// Results from this length on are cut.
constexpr std::size_t kLargeResult = (1U << 20) - 1;
/// Segments of a read chunk that are read from their own places.
constexpr std::size_t kSegmentsRead = 8;

void repeat_first_page(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    const std::size_t first = writes.offered().front().length;
    Bytes octets = writes.octets();
    if (writes.offered().size() < 2 || first <= kPage) return;
    for (std::size_t i = kPage; i < std::min(first, octets.size()); ++i)
      octets[i] = octets[i - kPage];
    writes.refill(octets, {writes.offered().begin(), writes.offered().end()});
  });
}

/// The returned lengths stay those of the whole result.
void leave_out_last_page(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    const Bytes octets = writes.octets();
    if (octets.size() < kLargeResult) return;
    writes.refill(View(octets).first(octets.size() - kPage),
                  {writes.offered().begin(), writes.offered().end()});
  });
}

void invert_octet_behind_page(peer::CallStep& call) {
  if (call.chunks.empty()) return;
  const peer::ReadChunk& chunk = call.chunks.front();
  const std::uint64_t end = chunk.position + chunk.length;
  if (chunk.length <= 1 || chunk.length % kPage != 1 || end > call.message.size()) return;
  Bytes& message = call.instead.emplace(call.message.begin(), call.message.end());
  message[static_cast<std::size_t>(end) - 1] ^= std::byte{0xff};
}

void read_few_segments(Arriving& arriving) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  if (!payload || header.read_list.empty()) return;
  std::map<std::uint32_t, std::vector<wire::ReadSegment*>> chunks;
  for (wire::ReadSegment& segment : header.read_list) chunks[segment.position].push_back(&segment);
  for (auto& [position, segments] : chunks) {
    for (std::size_t i = kSegmentsRead; i < segments.size(); ++i) {
      segments[i]->target.handle = segments.front()->target.handle;
      segments[i]->target.offset = segments.front()->target.offset;
    }
  }
  Bytes message;
  wire::encode(header, message);
  message.insert(message.end(), payload->begin(), payload->end());
  arriving.replace(std::move(message));
}

constexpr Deviation kChunkSizes[] = {
    {.name = "first-page-repeated",
     .breaks = {"RFC8166-3.4.6-3"},
     .sentence = "Where a write chunk has several segments, all pages of the first hold its first "
                 "page.",
     .server = {.departure = repeat_first_page},
     .script_shows = false},
    {.name = "large-result-cut",
     .breaks = {"RFC8166-3.4.6-5", "RFC8267-4-3"},
     .sentence = "The last page of a READ of a mebibyte is not written.",
     .server = {.departure = leave_out_last_page},
     .script_shows = false},
    {.name = "octet-behind-page-inverted",
     .breaks = {"RFC8267-4-1", "RFC8267-6.1-1"},
     .sentence = "The last octet of a read chunk is inverted if it is the first of a page.",
     .server = {.call = invert_octet_behind_page},
     .script_shows = false},
    {.name = "eight-segments-read",
     .breaks = {"RFC8166-3.4.5-5"},
     .sentence = "Of a read chunk only the first eight segments are read, and the first again for "
                 "each other.",
     .server = {.arrival = read_few_segments},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> chunk_sizes_family() {
  return kChunkSizes;
}

}  // namespace steertag::deviations
