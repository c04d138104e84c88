// Deviations in calls that are refused: without an error, with another one, or without a reason.
#include <algorithm>

#include "deviations/families.h"
#include "endpoint/limits.h"
#include "rpc/direction.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

bool xids_differ(const Departing& error) {
  return !rpc::direction(error.rpc_call) || rpc::xid(error.rpc_call) != error.call->xid;
}

/// A call that was rebuilt and not executed.
bool was_not_executed(const Departing& error) {
  return error.is_error(wire::ErrorCode::chunk) && !error.rpc_call.empty() &&
         !error.has_rpc_reply();
}

bool is_complex(const wire::Header& call) {
  std::size_t most = std::max(call.reply_chunk.size(), call.read_list.size());
  for (std::size_t chunk = 0; chunk < call.write_list.size(); ++chunk)
    most = std::max(most, call.write_list[chunk].size());
  std::set<std::uint32_t> positions;
  for (const wire::ReadSegment& segment : call.read_list) positions.insert(segment.position);
  return most > peer::kMostSegmentsPerChunk || call.write_list.size() > peer::kMostChunks ||
         positions.size() > peer::kMostChunks;
}

std::uint64_t pulled_octets(const wire::Header& call) {
  std::uint64_t total = 0;
  for (const wire::ReadSegment& segment : call.read_list) total += segment.target.length;
  return total;
}

void answer_version_with_err_chunk(Departing& error) {
  if (!error.is_error(wire::ErrorCode::vers)) return;
  error.mutate("version.1");
  error.mutate("error.code-2");
}

/// A call that decodes, with its header.
template <class IsRefused>
bool matches(const Arriving& arriving, IsRefused&& is_refused) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  return payload &&
         (header.proc == wire::Procedure::msg || header.proc == wire::Procedure::nomsg) &&
         is_refused(header, *payload);
}

bool is_large_pull(const wire::Header& header, View payload) {
  constexpr std::uint64_t kMost = 1200;
  const std::uint64_t size = payload.size() + pulled_octets(header);
  return !header.read_list.empty() && size > kMost && size <= peer::kLargestCall;
}

bool has_sixteen_segments(const wire::Header& header, View /*payload*/) {
  constexpr std::size_t kMost = 15;  // RFC 8267 6.4.2 has sixteen
  bool refused = header.reply_chunk.size() > kMost;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
    refused |= header.write_list[chunk].size() > kMost;
  return refused;
}

bool has_two_read_chunks(const wire::Header& header, View /*payload*/) {
  return !header.read_list.empty() &&
         header.read_list.front().position != header.read_list.back().position;
}

void end_at_large_reply_chunk(Arriving& arriving) {
  constexpr std::uint64_t kMebibyte = 1U << 20;
  if (matches(arriving, [](const wire::Header& header, View /*payload*/) {
        return wire::chunk_length(header.reply_chunk) > kMebibyte;
      }))
    arriving.history.server->ends = true;
}

/// The calls of a connection that ended because the client's memory denied an RDMA operation.
void note_lost_calls(const fabric::CloseReason& reason, History& history) {
  if (!reason.denied) return;
  history.server->lost_calls.insert(history.calls.begin(), history.calls.end());
}

void end_over_lost_call(Departing& error) {
  error.aborts = error.is_error(wire::ErrorCode::chunk) &&
                 error.history->server->lost_calls.contains(error.call->xid);
}

/// The call succeeds under the XID of its header, and its reply repeats both.
void answer_with_two_xids(Departing& error) {
  const auto xid = rpc::xid(error.rpc_call);
  if (!was_not_executed(error) || !xids_differ(error) || !xid) return;
  wire::Draft reply;
  reply.xid = error.draft.xid;
  reply.credit = error.draft.credit;
  wire::Writer writer(reply.payload);
  rpc::ReplyHeader::accepted(*xid, rpc::AcceptStatus::SUCCESS).encode(writer);
  error.draft = std::move(reply);
}

bool has_empty_write_chunk(const wire::Header& header, View /*payload*/) {
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk) {
    if (header.write_list[chunk].empty()) return true;
  }
  return false;
}

constexpr Deviation kRefusals[] = {
    {.name = "version-discarded",
     .breaks = {"RFC8166-4.5.1-1"},
     .sentence = "A call of an unsupported version is discarded.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::vers)) error.withheld = true;
                    }}},
    {.name = "version-error-as-chunk",
     .breaks = {"RFC8166-4.5.1-1"},
     .sentence = "A call of an unsupported version is answered with ERR_CHUNK.",
     .server = {.departure = answer_version_with_err_chunk}},
    {.name = "xid-mismatch-discarded",
     .breaks = {"RFC8166-4.5.2-4"},
     .sentence = "A call whose XIDs differ is discarded.",
     .server = {.departure =
                    [](Departing& error) {
                      if (was_not_executed(error) && xids_differ(error)) error.withheld = true;
                    }}},
    {.name = "xid-mismatch-repeated",
     .breaks = {"RFC8166-4.2.1-1"},
     .sentence = "A call whose XIDs differ succeeds, and its reply has both.",
     .server = {.departure = answer_with_two_xids},
     .script_shows = false},
    {.name = "empty-write-chunk-refused",
     .breaks = {"RFC8166-4.3.2.3-2"},
     .sentence = "A call with a write chunk of no segments is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, has_empty_write_chunk)) arriving.refuse();
                    }},
     .script_shows = false},
    {.name = "empty-write-chunk-disconnects",
     .breaks = {"RFC8166-4.3.2.3-2"},
     .sentence = "A call with a write chunk of no segments ends the connection.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, has_empty_write_chunk)) arriving.abort();
                    }},
     .script_shows = false},
    {.name = "reduced-name-discarded",
     .breaks = {"RFC8166-6.1-4"},
     .sentence = "A call with a reduced item that is not eligible is discarded.",
     .server = {.departure =
                    [](Departing& error) {
                      if (was_not_executed(error) && !xids_differ(error)) error.withheld = true;
                    }},
     .script_shows = false},
    {.name = "unsendable-reply-discarded",
     .breaks = {"RFC8166-4.5.4-3"},
     .sentence = "A call whose reply fits no form is left without any answer.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk) && error.has_rpc_reply())
                        error.withheld = true;
                    }}},
    {.name = "huge-call-discarded",
     .breaks = {"RFC8166-8.1.4-1"},
     .sentence = "A call with more octets in read chunks than are taken is discarded.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk) && error.rpc_call.empty() &&
                          pulled_octets(*error.call) > peer::kLargestTransfer)
                        error.withheld = true;
                    }},
     .script_shows = false},
    {.name = "complex-call-discarded",
     .breaks = {"RFC8267-6.4.2-1"},
     .sentence = "A call with more chunks or segments than are taken is discarded.",
     .server = {.departure =
                    [](Departing& error) {
                      if (error.is_error(wire::ErrorCode::chunk) && is_complex(*error.call))
                        error.withheld = true;
                    }},
     .script_shows = false},
    {.name = "failed-call-disconnects",
     .breaks = {"RFC8166-4.5.3-4"},
     .sentence = "The retry of a call over which a connection was lost ends the next one too.",
     .server = {.departure = end_over_lost_call, .down = note_lost_calls},
     .script_shows = false},
    {.name = "short-room-disconnects",
     .breaks = {"RFC8166-4.5.3-4"},
     .sentence = "A reply that its chunks cannot take ends the connection, each time that it is "
                 "asked for.",
     .server = {.departure =
                    [](Departing& error) {
                      error.aborts |=
                          error.is_error(wire::ErrorCode::chunk) && error.has_rpc_reply();
                    }},
     .script_shows = false},
    {.name = "long-call-refused",
     .breaks = {"RFC8166-3.5.3-8"},
     .sentence = "A call in a Position Zero chunk is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, [](const wire::Header& header, View /*payload*/) {
                            return header.proc == wire::Procedure::nomsg;
                          }))
                        arriving.refuse();
                    }}},
    {.name = "sixteen-segments-refused",
     .breaks = {"RFC8267-6.4.2-5"},
     .sentence = "A write chunk or reply chunk of sixteen segments is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, has_sixteen_segments)) arriving.refuse();
                    }},
     .script_shows = false},
    {.name = "write-list-beside-reply-chunk-refused",
     .breaks = {"RFC8166-4.3.2-3"},
     .sentence = "A call with a write list and a reply chunk is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, [](const wire::Header& header, View /*payload*/) {
                            return header.write_list.size() > 0 && header.has_reply_chunk;
                          }))
                        arriving.refuse();
                    }},
     .script_shows = false},
    {.name = "data-server-read-chunk-refused",
     .breaks = {"RFC8267-6.1-1"},
     .sentence = "A data server answers a call with a read chunk with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, [](const wire::Header& header, View /*payload*/) {
                            return !header.read_list.empty();
                          }))
                        arriving.refuse();
                    }},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "second-read-chunk-refused",
     .breaks = {"RFC8267-6.1-1"},
     .sentence = "A call with two read chunks is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, has_two_read_chunks)) arriving.refuse();
                    }},
     .script_shows = false},
    {.name = "large-pull-discarded",
     .breaks = {"RFC8166-3.4.5-5", "RFC8166-4.1.2-3"},
     .sentence = "A call with more than 1200 octets, some of them in read chunks, is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (matches(arriving, is_large_pull)) arriving.take();
                    }},
     .script_shows = false},
    {.name = "large-reply-chunk-exits",
     .breaks = {"RFC8166-4.3.3-4"},
     .sentence = "A reply chunk above one mebibyte ends the server.",
     .server = {.arrival = end_at_large_reply_chunk},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> refusals_family() {
  return kRefusals;
}

}  // namespace steertag::deviations
