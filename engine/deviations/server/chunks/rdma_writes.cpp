// Deviations in the RDMA Writes that fill write chunks.
#include <algorithm>

#include "deviations/families.h"
#include "deviations/server/chunks/chunk_writes.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// Placed, but not counted: the returned lengths stay those of the item.
void write_roundup(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    Bytes octets = writes.octets();
    octets.resize(wire::roundup4(octets.size()));
    if (octets.size() <= writes.room())
      writes.refill(octets, {writes.offered().begin(), writes.offered().end()});
  });
}

void fill_backwards(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& returned) {
    returned.segments =
        writes.refill(writes.octets(), {writes.offered().rbegin(), writes.offered().rend()});
    std::ranges::reverse(returned.segments);
  });
}

void fill_halves(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& returned) {
    const Bytes octets = writes.octets();
    std::vector<wire::Segment> halves(writes.offered().begin(), writes.offered().end());
    if (writes.room() < 2 * (octets.size() + halves.size())) return;
    for (wire::Segment& segment : halves) segment.length = (segment.length + 1) / 2;
    returned.segments = writes.refill(octets, std::move(halves));
  });
}

void write_behind(Departing& reply) {
  each_filled_chunk(reply, [&](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    const wire::Segment& last = writes.offered().back();
    reply.writes.push_back({Bytes(4), last.handle, last.offset + last.length});
  });
}

void invert_first_octet(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    writes[0].octets.front() ^= std::byte{0xff};
  });
}

void swap_first_two(Departing& reply) {
  each_filled_chunk(reply, [](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    if (writes.size() >= 2 && writes[0].octets.size() == writes[1].octets.size())
      std::swap(writes[0].octets, writes[1].octets);
  });
}

std::uint64_t low_half(std::uint64_t offset) {
  return static_cast<std::uint32_t>(offset);
}

void truncate_read_offsets(Arriving& arriving) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  if (!payload || header.read_list.empty()) return;
  for (wire::ReadSegment& segment : header.read_list)
    segment.target.offset = low_half(segment.target.offset);
  Bytes message;
  wire::encode(header, message);
  message.insert(message.end(), payload->begin(), payload->end());
  arriving.replace(std::move(message));
}

constexpr Deviation kRdmaWrites[] = {
    {.name = "pad-written",
     .breaks = {"RFC8166-3.4.6.2-2"},
     .sentence = "Roundup octets are written into the write chunk.",
     .server = {.departure = write_roundup}},
    {.name = "segments-backwards",
     .breaks = {"RFC8166-3.4.6-3"},
     .sentence = "The segments of a write chunk are filled from the last to the first.",
     .server = {.departure = fill_backwards}},
    {.name = "segments-half-filled",
     .breaks = {"RFC8166-3.4.6-3"},
     .sentence = "Only half of each segment is used before the next.",
     .server = {.departure = fill_halves}},
    {.name = "write-beyond-chunk",
     .breaks = {"RFC8166-3.4.3-1", "RFC8166-8.1.4-2"},
     .sentence = "Four octets behind the last segment are written.",
     .server = {.departure = write_behind}},
    {.name = "writes-after-reply",
     .breaks = {"RFC8166-2.3.2-3", "RFC8166-3.5.2-2", "RFC5040-5.5-1", "RFC8166-3.4.6-5"},
     .sentence = "RDMA Writes follow the reply that announces them.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.writes_last = true;
                    }}},
    {.name = "read-data-corrupted",
     .breaks = {"RFC8267-4-3", "RFC8267-4-4", "RFC8267-6.1-4"},
     .sentence = "The first octet of READ data in a write chunk is inverted.",
     .server = {.departure = invert_first_octet}},
    {.name = "read-halves-swapped",
     .breaks = {"RFC8166-3.4.6-3"},
     .sentence = "READ data arrives with the contents of its two segments swapped.",
     .server = {.departure = swap_first_two}},
    {.name = "offsets-truncated",
     .breaks = {"RFC8166-2.3.2-1", "RFC8166-3.4.5-6"},
     .sentence = "Only the low 32 bits of a segment's offset are used.",
     .server = {.arrival = truncate_read_offsets,
                .departure =
                    [](Departing& reply) {
                      for (Departing::Write& write : reply.writes)
                        write.offset = low_half(write.offset);
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> rdma_writes_family() {
  return kRdmaWrites;
}

}  // namespace steertag::deviations
