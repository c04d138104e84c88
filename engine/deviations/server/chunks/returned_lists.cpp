// Deviations in the chunk lists that a reply returns.
#include <algorithm>

#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

wire::Draft draft_of_call(const Departing& reply) {
  return wire::Draft::from(*reply.call, {});
}

std::uint64_t length_of(const wire::DraftChunk& chunk) {
  return wire::chunk_length(chunk.segments);
}

/// Handles and offsets of the write list.
template <class Change>
void each_segment(Departing& reply, Change&& change) {
  if (!reply.is_reply()) return;
  for (wire::DraftChunk& chunk : reply.draft.write_list) {
    for (wire::Segment& segment : chunk.segments) change(segment);
  }
}

void keep_first_segments(Departing& reply) {
  if (!reply.is_reply()) return;
  for (wire::DraftChunk& chunk : reply.draft.write_list) {
    if (chunk.segments.size() > 1) chunk.segments.resize(1);
  }
}

void keep_unused_lengths(Departing& reply) {
  if (!reply.is_reply()) return;
  const wire::Draft call = draft_of_call(reply);
  for (std::size_t i = 0; i < reply.draft.write_list.size(); ++i) {
    if (length_of(reply.draft.write_list[i]) == 0) reply.draft.write_list[i] = call.write_list[i];
  }
}

void drop_unused(Departing& reply) {
  if (!reply.is_reply()) return;
  std::erase_if(reply.draft.write_list, [](const wire::DraftChunk& chunk) {
    return !chunk.segments.empty() && length_of(chunk) == 0;
  });
}

void drop_empty(Departing& reply) {
  if (!reply.is_reply()) return;
  std::erase_if(reply.draft.write_list,
                [](const wire::DraftChunk& chunk) { return chunk.segments.empty(); });
}

void invent_reply_chunk(Departing& reply) {
  if (!reply.is_reply() || reply.call->has_reply_chunk) return;
  reply.draft.reply_chunk.emplace().segments.resize(1);
}

constexpr Deviation kFamily[] = {
    {.name = "write-list-dropped",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.1.2-5"},
     .sentence = "Replies carry no write list.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.write_list.clear();
                    }}},
    {.name = "write-lengths-kept",
     .breaks = {"RFC8166-3.4.6-5", "RFC8166-3.4.4-2"},
     .sentence = "Write chunks are returned with the lengths of the call.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply())
                        reply.draft.write_list = draft_of_call(reply).write_list;
                    }}},
    {.name = "write-handle-changed",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.1.2-1"},
     .sentence = "Write chunks are returned with other handles.",
     .server = {.departure =
                    [](Departing& reply) {
                      each_segment(reply, [](wire::Segment& segment) { segment.handle ^= 1; });
                    }}},
    {.name = "write-offset-zeroed",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.4.3-1"},
     .sentence = "Write chunks are returned with offset zero.",
     .server = {.departure =
                    [](Departing& reply) {
                      each_segment(reply, [](wire::Segment& segment) { segment.offset = 0; });
                    }}},
    {.name = "segments-merged",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.1.2-4"},
     .sentence = "Write chunks are returned with their first segment only.",
     .server = {.departure = keep_first_segments}},
    {.name = "pad-counted",
     .breaks = {"RFC8166-3.4.6.2-3"},
     .sentence = "The returned length of a write chunk counts roundup octets.",
     .server = {.departure =
                    [](Departing& reply) {
                      each_segment(reply, [](wire::Segment& segment) {
                        segment.length = static_cast<std::uint32_t>(wire::roundup4(segment.length));
                      });
                    }}},
    {.name = "unused-write-lengths-kept",
     .breaks = {"RFC8166-4.3.2.2-4", "RFC8166-6.1-1", "RFC8267-6.4.1-6", "RFC8267-6.6-1"},
     .sentence = "An unused write chunk is returned with the lengths of the call.",
     .server = {.departure = keep_unused_lengths}},
    {.name = "unused-write-dropped",
     .breaks = {"RFC8166-4.3.2.2-4"},
     .sentence = "An unused write chunk is not returned.",
     .server = {.departure = drop_unused}},
    {.name = "empty-write-chunk-dropped",
     .breaks = {"RFC8166-4.3.2.3-3"},
     .sentence = "An empty write chunk is not returned.",
     .server = {.departure = drop_empty}},
    {.name = "reply-chunk-dropped",
     .breaks = {"RFC8166-4.3.3-4", "RFC8166-4.2.4-2", "RFC8166-4.7-2"},
     .sentence = "Replies carry no reply chunk.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.reply_chunk.reset();
                    }}},
    {.name = "reply-lengths-kept",
     .breaks = {"RFC8166-4.3.3-5"},
     .sentence = "A reply chunk is returned with the lengths of the call.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply())
                        reply.draft.reply_chunk = draft_of_call(reply).reply_chunk;
                    }}},
    {.name = "reply-chunk-invented",
     .breaks = {"RFC8166-3.5.3-6", "RFC8166-4.3-1"},
     .sentence = "Replies carry a reply chunk that the call did not offer.",
     .server = {.departure = invent_reply_chunk}},
    {.name = "read-list-in-reply",
     .breaks = {"RFC8166-4.3.1-3", "RFC8166-A.2-1"},
     .sentence = "Replies carry the call's read list.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.read_list = draft_of_call(reply).read_list;
                    }}},
};

}  // namespace

std::span<const Deviation> returned_lists_family() {
  return kFamily;
}

}  // namespace steertag::deviations
