// Deviations in the chunk lists that a reply returns.
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

wire::Draft draft_of_call(const Departing& reply) {
  return wire::Draft::from(*reply.call, {});
}

std::uint64_t length_of(const wire::DraftChunk& chunk) {
  return wire::chunk_length(chunk.segments);
}

void keep_unused_lengths(Departing& reply) {
  if (!reply.is_reply()) return;
  const wire::Draft call = draft_of_call(reply);
  for (std::size_t i = 0; i < reply.draft.write_list.size(); ++i) {
    if (length_of(reply.draft.write_list[i]) == 0) reply.draft.write_list[i] = call.write_list[i];
  }
}

/// Of a listing with some twenty long names.
constexpr std::size_t kLongReply = 3000;

void keep_unused_lengths_beside_long_replies(Departing& reply) {
  const auto& chunk = reply.draft.reply_chunk;
  const std::uint64_t placed = chunk ? length_of(*chunk) : 0;
  if (reply.draft.payload.size() + placed > kLongReply) keep_unused_lengths(reply);
}

void keep_lengths_beside_reply_chunk(Departing& reply) {
  constexpr auto kNomsgWord = static_cast<std::uint32_t>(wire::Procedure::nomsg);
  if (reply.is_reply() && reply.draft.proc == kNomsgWord)
    reply.draft.write_list = draft_of_call(reply).write_list;
}

bool replies_without_reply_chunk(const Departing& departing) {
  return departing.is_reply() && !departing.call->has_reply_chunk;
}

constexpr Deviation kReturnedLists[] = {
    {.name = "write-list-dropped",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.1.2-5"},
     .sentence = "Replies carry no write list.",
     .server = {.mutation = {replies, "write-list.absent"}}},
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
     .server = {.mutation = {replies, "write-list.handles-differ"}}},
    {.name = "write-offset-zeroed",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.4.3-1"},
     .sentence = "Write chunks are returned with offset zero.",
     .server = {.mutation = {replies, "write-list.offsets-0"}}},
    {.name = "segments-merged",
     .breaks = {"RFC8166-3.4.6-4", "RFC8166-4.1.2-4"},
     .sentence = "Write chunks are returned with their first segment only.",
     .server = {.mutation = {replies, "write-list.first-segments-only"}}},
    {.name = "pad-counted",
     .breaks = {"RFC8166-3.4.6.2-3", "RFC8166-3.4.6-5"},
     .sentence = "The returned length of a write chunk counts roundup octets.",
     .server = {.mutation = {replies, "write-list.lengths-rounded-up"}}},
    {.name = "unused-write-lengths-kept",
     .breaks = {"RFC8166-4.3.2.2-4", "RFC8166-6.1-1", "RFC8267-6.4.1-6", "RFC8267-6.6-1",
                "RFC8166-3.4.6-5"},
     .sentence = "An unused write chunk is returned with the lengths of the call.",
     .server = {.departure = keep_unused_lengths}},
    {.name = "unused-write-lengths-kept-beside-long-replies",
     .breaks = {"RFC8166-4.3.2.2-4", "RFC8166-3.4.6-5"},
     .sentence = "Beside a reply of more than 3000 octets an unused write chunk keeps the lengths "
                 "of the call.",
     .server = {.departure = keep_unused_lengths_beside_long_replies},
     .script_shows = false},
    {.name = "write-lengths-kept-beside-reply-chunk",
     .breaks = {"RFC8166-3.4.6-5", "RFC8166-4.3.2.2-4"},
     .sentence = "A reply in a reply chunk returns write chunks with the lengths of the call.",
     .server = {.departure = keep_lengths_beside_reply_chunk},
     .script_shows = false},
    {.name = "data-server-unused-lengths-kept",
     .breaks = {"RFC8267-6.4.1-6"},
     .sentence = "A data server returns an unused write chunk with the lengths of the call.",
     .server = {.departure = keep_unused_lengths},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "unused-write-dropped",
     .breaks = {"RFC8166-4.3.2.2-4", "RFC8166-3.4.6-4"},
     .sentence = "An unused write chunk is not returned.",
     .server = {.mutation = {replies, "write-list.without-unused-chunks"}}},
    {.name = "empty-write-chunk-dropped",
     .breaks = {"RFC8166-4.3.2.3-3", "RFC8166-3.4.6-4"},
     .sentence = "An empty write chunk is not returned.",
     .server = {.mutation = {replies, "write-list.without-empty-chunks"}}},
    {.name = "reply-chunk-dropped",
     .breaks = {"RFC8166-4.3.3-4", "RFC8166-4.2.4-2", "RFC8166-4.7-2"},
     .sentence = "Replies carry no reply chunk.",
     .server = {.mutation = {replies, "reply-chunk.absent"}}},
    {.name = "reply-lengths-kept",
     .breaks = {"RFC8166-4.3.3-5", "RFC8166-3.5.3-9"},
     .sentence = "A reply chunk is returned with the lengths of the call.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply())
                        reply.draft.reply_chunk = draft_of_call(reply).reply_chunk;
                    }}},
    {.name = "reply-chunk-invented",
     .breaks = {"RFC8166-3.5.3-6", "RFC8166-4.3-1", "RFC8166-4.3.3-5"},
     .sentence = "Replies carry a reply chunk that the call did not offer.",
     .server = {.mutation = {replies_without_reply_chunk, "reply-chunk.invented"}}},
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
  return kReturnedLists;
}

}  // namespace steertag::deviations
