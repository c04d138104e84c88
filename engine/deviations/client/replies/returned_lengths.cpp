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

/// The client sees no more of a long reply than its first segment.
void take_first_segment(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::nomsg) return;
  wire::Draft draft = wire::draft_of(arriving.message());
  if (!draft.reply_chunk || draft.reply_chunk->segments.size() < 2) return;
  for (std::size_t i = 1; i < draft.reply_chunk->segments.size(); ++i)
    draft.reply_chunk->segments[i].length = 0;
  Bytes message;
  wire::encode(draft, message);
  arriving.replace(std::move(message));
}

void refuse_empty_segment(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || !decoded->is_reply() || !arriving.history.find(decoded->header.xid)) return;
  const wire::WriteList& chunks = decoded->header.write_list;
  const bool is_refused = !chunks.empty() && chunks[0].size() > 1 &&
                          wire::chunk_length(chunks[0]) > 0 &&
                          chunks[0][chunks[0].size() - 1].length == 0;
  if (is_refused) arriving.fail(decoded->header.xid);
}

/// On the first connection there are such replies before any case.
void refuse_unused_reply_chunk(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  const bool is_refused = arriving.history.connection > 1 && decoded && decoded->is_reply() &&
                          decoded->header.proc == wire::Procedure::msg &&
                          decoded->header.has_reply_chunk;
  if (is_refused && arriving.history.find(decoded->header.xid)) arriving.fail(decoded->header.xid);
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
    {.name = "first-reply-segment-alone",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.3-6"},
     .sentence = "Of a long reply the first segment counts.",
     .client = {.arrival = take_first_segment}},
    {.name = "empty-segment-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6.1-1"},
     .sentence = "A write chunk that comes back with an empty last segment fails its call.",
     .client = {.arrival = refuse_empty_segment}},
    {.name = "unused-reply-chunk-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.3-7"},
     .sentence = "Behind a lost connection, an inline reply with a reply chunk fails its call.",
     .client = {.arrival = refuse_unused_reply_chunk}},
};

}  // namespace

std::span<const Deviation> returned_lengths_family() {
  return kReturnedLengths;
}

}  // namespace steertag::deviations
