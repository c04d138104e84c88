// Deviations in replies that do not fit inline.
#include <limits>

#include "deviations/families.h"
#include "deviations/server/chunks/chunk_writes.h"
#include "endpoint/chunk.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr auto kNoMsg = static_cast<std::uint32_t>(wire::Procedure::nomsg);
// RPC reply header with an AUTH_NONE verifier, and a status word: what a reply cannot do without.
constexpr std::size_t kReplyHeaderBytes = 28;

void shorten(ChunkWrites& writes, wire::DraftChunk& returned, std::size_t octets) {
  const Bytes stream = writes.octets();
  if (stream.size() <= kReplyHeaderBytes + octets) return;
  returned.segments = writes.refill(View(stream).first(stream.size() - octets),
                                    {writes.offered().begin(), writes.offered().end()});
}

void cut_end(Departing& reply) {
  filled_reply_chunk(
      reply, [](ChunkWrites& writes, wire::DraftChunk& returned) { shorten(writes, returned, 4); });
}

void cut_roundup(Departing& reply) {
  filled_reply_chunk(reply, [&](ChunkWrites& writes, wire::DraftChunk& returned) {
    if (reply.rpc_reply->items().empty()) return;
    const peer::ReplyPayload::Item& item = reply.rpc_reply->items().back();
    if (!item.reduced) shorten(writes, returned, wire::roundup4(item.length) - item.length);
  });
}

void send_inline_too(Departing& reply) {
  filled_reply_chunk(reply, [&](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    reply.draft.payload = writes.octets();
    if (reply.draft.payload.size() > 4 * kReplyHeaderBytes)
      reply.draft.payload.resize(4 * kReplyHeaderBytes);
  });
}

void refuse(Departing& reply) {
  if (!reply.is_reply() || reply.draft.proc != kNoMsg) return;
  reply.mutate("procedure.error-err-chunk");
  reply.writes.clear();
  reply.invalidate.reset();
}

/// The payload stream that no chunk can take.
Bytes stream_of(const Departing& error) {
  std::vector<View> parts;
  error.rpc_reply->stream_parts(parts);
  Bytes stream;
  for (const View part : parts) stream.insert(stream.end(), part.begin(), part.end());
  return stream;
}

/// A reply in place of the error, with all chunks unused.
wire::Header reply_in_place_of(const Departing& error, wire::Procedure procedure) {
  wire::Header header = *error.call;
  header.credit = error.draft.credit;
  header.proc = procedure;
  header.read_list.clear();
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
    peer::mark_unused(header.write_list.at(chunk));
  return header;
}

void send_inline(Departing& departing) {
  filled_reply_chunk(departing, [&](ChunkWrites& writes, wire::DraftChunk& returned) {
    departing.draft.proc = static_cast<std::uint32_t>(wire::Procedure::msg);
    departing.draft.payload = writes.octets();
    returned.segments = writes.refill({}, returned.segments);
  });
  if (!departing.is_error() || !departing.has_rpc_reply()) return;
  wire::Header header = reply_in_place_of(departing, wire::Procedure::msg);
  peer::mark_unused(header.reply_chunk);
  departing.draft = wire::Draft::from(header, stream_of(departing));
}

/// Sends inline what would fit without its roundup.
void forget_roundup(Departing& departing) {
  if (!departing.is_error() || !departing.has_rpc_reply()) return;
  std::size_t roundup = 0;
  for (const peer::ReplyPayload::Item& item : departing.rpc_reply->items()) {
    if (!item.reduced) roundup += wire::roundup4(item.length) - item.length;
  }
  wire::Header header = reply_in_place_of(departing, wire::Procedure::msg);
  peer::mark_unused(header.reply_chunk);
  const Bytes stream = stream_of(departing);
  const std::size_t octets = wire::encoded_size(header) + stream.size() - roundup;
  if (octets > departing.connection->negotiated().to_client_bytes) return;
  departing.draft = wire::Draft::from(header, stream);
}

/// Writes as much of a reply as there is room for, if no more than `most` octets are lacking.
void fill_chunk_that_lacks(Departing& error, std::uint64_t most) {
  if (!error.is_error() || !error.has_rpc_reply() || !error.call->has_reply_chunk) return;
  const Bytes stream = stream_of(error);
  const std::uint64_t room = wire::chunk_length(error.call->reply_chunk);
  if (room >= stream.size() || stream.size() - room > most) return;
  wire::Header header = reply_in_place_of(error, wire::Procedure::nomsg);
  ChunkWrites writes(error, error.call->reply_chunk);
  header.reply_chunk =
      writes.refill(View(stream).first(static_cast<std::size_t>(room)), header.reply_chunk);
  error.draft = wire::Draft::from(header, {});
}

void refuse_full_chunk(Departing& reply) {
  filled_reply_chunk(reply, [&](ChunkWrites& writes, wire::DraftChunk& /*returned*/) {
    if (writes.room() == writes.octets().size()) refuse(reply);
  });
}

constexpr Deviation kLongReplies[] = {
    {.name = "inline-above-threshold",
     .breaks = {"RFC8166-3.5.3-7", "RFC8166-3.3.2-2", "RFC8166-4.2.4-6"},
     .sentence = "Replies of any size are sent inline, reply chunk or not.",
     .server = {.departure = send_inline}},
    {.name = "roundup-above-threshold",
     .breaks = {"RFC8166-4.2.4-6"},
     .sentence = "A reply is sent inline if it fits without the roundup of its items.",
     .server = {.departure = forget_roundup},
     .script_shows = false},
    {.name = "nomsg-with-payload",
     .breaks = {"RFC8166-3.5.3-2", "RFC8166-4.1.2-7"},
     .sentence = "The payload stream follows RDMA_NOMSG inline too.",
     .server = {.departure = send_inline_too}},
    {.name = "long-reply-cut",
     .breaks = {"RFC8166-3.5.3-7"},
     .sentence = "The last four octets of a long reply are not written.",
     .server = {.departure = cut_end}},
    {.name = "long-reply-without-roundup",
     .breaks = {"RFC8166-3.5.3-9"},
     .sentence = "Roundup is missing from a long reply.",
     .server = {.departure = cut_roundup}},
    {.name = "small-reply-chunk-overrun",
     .breaks = {"RFC8267-3.1-1", "RFC8166-4.2.4-8"},
     .sentence = "A reply that is larger than its reply chunk is cut off.",
     .server = {.departure =
                    [](Departing& error) {
                      constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();
                      fill_chunk_that_lacks(error, kAny);
                    }}},
    {.name = "reply-chunk-lacks-roundup",
     .breaks = {"RFC8166-3.5.3-9", "RFC8267-3.1-1"},
     .sentence = "A reply chunk that lacks up to three octets is filled, and they are left out.",
     .server = {.departure = [](Departing& error) { fill_chunk_that_lacks(error, 3); }},
     .script_shows = false},
    {.name = "full-reply-chunk-refused",
     .breaks = {"RFC8166-3.5.3-7"},
     .sentence = "A reply that would fill its reply chunk to the last octet is answered with "
                 "ERR_CHUNK.",
     .server = {.departure = refuse_full_chunk},
     .script_shows = false},
    {.name = "long-reply-refused",
     .breaks = {"RFC8166-3.5.3-1", "RFC8166-6.3-1"},
     .sentence = "A reply that does not fit inline is answered with ERR_CHUNK, reply chunk or not.",
     .server = {.departure = refuse},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> long_replies_family() {
  return kLongReplies;
}

}  // namespace steertag::deviations
