// Deviations of the client: how it adds the lengths of chunks that come back, and what it believes.
#include <algorithm>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

using Segments = std::vector<wire::Segment>;

/// The segments as a call offers them, filled with so many octets.
Segments filled(std::span<const wire::Segment> offered, std::uint64_t octets) {
  Segments segments(offered.begin(), offered.end());
  for (wire::Segment& segment : segments) {
    segment.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(octets, segment.length));
    octets -= segment.length;
  }
  return segments;
}

/// `change(offered, returned)` for each chunk of a reply that its call has offered.
template <class Change>
void change_returned(ArrivingMessage& arriving, Change&& change) {
  const auto decoded = decode(arriving.message());
  if (!decoded || is_server_call(arriving)) return;
  const SentCall* const call = arriving.history.find(decoded->header.xid);
  if (!call) return;
  wire::Draft draft = wire::draft_of(arriving.message());
  const wire::Draft before = draft;
  const auto chunks = std::min(call->header.write_list.size(), draft.write_list.size());
  for (std::size_t i = 0; i < chunks; ++i)
    change(std::span<const wire::Segment>(call->header.write_list[i]),
           draft.write_list[i].segments);
  if (call->header.has_reply_chunk && draft.reply_chunk)
    change(std::span<const wire::Segment>(call->header.reply_chunk), draft.reply_chunk->segments);
  if (draft == before) return;
  Bytes message;
  wire::encode(draft, message);
  arriving.replace(std::move(message));
}

void add_in_32_bits(ArrivingMessage& arriving) {
  change_returned(arriving, [](std::span<const wire::Segment> offered, Segments& returned) {
    const std::uint64_t length = wire::chunk_length(returned);
    const auto low = static_cast<std::uint32_t>(length);
    if (low != length) returned = filled(offered, low);
  });
}

void add_in_16_bits(ArrivingMessage& arriving) {
  change_returned(arriving, [](std::span<const wire::Segment> offered, Segments& returned) {
    const std::uint64_t length = wire::chunk_length(returned);
    if (length > 0xFFFF) returned = filled(offered, length & 0xFFFF);
  });
}

void cut_excess(ArrivingMessage& arriving) {
  change_returned(arriving, [](std::span<const wire::Segment> offered, Segments& returned) {
    const std::size_t segments = std::min(offered.size(), returned.size());
    for (std::size_t i = 0; i < segments; ++i)
      returned[i].length = std::min(returned[i].length, offered[i].length);
  });
}

/// Without a length there is nothing to complete.
void take_whole_reply_chunk(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::nomsg) return;
  change_returned(arriving, [](std::span<const wire::Segment> offered, Segments& returned) {
    if (wire::chunk_length(returned) == 0) return;
    const std::size_t segments = std::min(offered.size(), returned.size());
    for (std::size_t i = 0; i < segments; ++i)
      returned[i].length = std::max(returned[i].length, offered[i].length);
  });
}

constexpr Deviation kReturnedLengths[] = {
    {.name = "returned-lengths-wrap",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "The lengths of a chunk that comes back are added in 32 bits.",
     .client = {.arrival = add_in_32_bits}},
    {.name = "returned-lengths-in-16-bits",
     .side = trace::Role::client,
     .breaks = {"RFC8166-1-1"},
     .sentence = "The lengths of a chunk that comes back are added in 16 bits.",
     .client = {.arrival = add_in_16_bits}},
    {.name = "returned-excess-cut",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "A segment that comes back longer than it was offered counts as full.",
     .client = {.arrival = cut_excess}},
    {.name = "reply-length-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "A reply chunk counts as full, whatever length comes back.",
     .client = {.arrival = take_whole_reply_chunk}},
};

}  // namespace

std::span<const Deviation> returned_lengths_family() {
  return kReturnedLengths;
}

}  // namespace steertag::deviations
