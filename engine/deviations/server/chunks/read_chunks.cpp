// Deviations in how a call is rebuilt from its read chunks.
#include <algorithm>

#include "deviations/families.h"
#include "endpoint/chunk.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// The call with another read list. `change` gets the header and the payload stream.
template <class Change>
void change_read_list(Arriving& arriving, Change&& change) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  if (!payload || header.read_list.empty()) return;
  change(header, *payload);
  Bytes message;
  wire::encode(header, message);
  message.insert(message.end(), payload->begin(), payload->end());
  arriving.replace(std::move(message));
}

/// The other segments are left unread: the item keeps the size that its count word promises.
void read_first_segment_only(Arriving& arriving) {
  change_read_list(arriving, [](wire::Header& header, View /*payload*/) {
    std::vector<wire::ReadSegment>& list = header.read_list;
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].position == list[i - 1].position) list[i].target = list.front().target;
    }
  });
}

void append_chunks(Arriving& arriving) {
  change_read_list(arriving, [](wire::Header& header, View payload) {
    if (header.proc != wire::Procedure::msg) return;
    for (wire::ReadSegment& segment : header.read_list)
      segment.position = static_cast<std::uint32_t>(payload.size());
  });
}

/// The octets of the first read chunk, where the rebuilt call has them. `change` gets the call too.
template <class Change>
void change_first_chunk(peer::CallStep& call, Change&& change) {
  if (call.chunks.empty()) return;
  const peer::ReadChunk& chunk = call.chunks.front();
  const auto length = static_cast<std::size_t>(chunk.length);
  if (chunk.position < 4 || chunk.position + length > call.message.size() || length == 0) return;
  Bytes& message = call.instead.emplace(call.message.begin(), call.message.end());
  change(message, chunk.position, length);
}

void count_roundup(peer::CallStep& call) {
  constexpr std::size_t kWriteCountBefore = 12;  // WRITE3args: count, stable, count of the data
  change_first_chunk(call, [](Bytes& message, std::size_t at, std::size_t length) {
    const std::uint32_t count = wire::load_u32(message.data() + at - 4);
    const auto whole = static_cast<std::uint32_t>(length);
    wire::store_u32(message.data() + at - 4, whole);
    if (at >= kWriteCountBefore && wire::load_u32(message.data() + at - kWriteCountBefore) == count)
      wire::store_u32(message.data() + at - kWriteCountBefore, whole);
  });
}

void rotate_data(peer::CallStep& call) {
  change_first_chunk(call, [](Bytes& message, std::size_t at, std::size_t length) {
    const auto first = message.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = first + static_cast<std::ptrdiff_t>(length);
    std::rotate(first, end - 1, end);
  });
}

void read_again(Departing& reply) {
  if (!reply.is_reply()) return;
  for (const wire::ReadSegment& segment : reply.call->read_list) {
    if (segment.target.length > 0)
      reply.reads_after.push_back(
          {segment.target.handle, segment.target.offset, segment.target.length});
  }
}

void take_other_xid(Departing& reply) {
  if (!reply.is_reply()) return;
  for (const std::uint32_t other : reply.history->pulled) {
    if (other != reply.call->xid) reply.draft.xid = other;
  }
}

constexpr Deviation kReadChunks[] = {
    {.name = "second-read-segment-ignored",
     .breaks = {"RFC8166-3.4.5-5", "RFC8267-4-2"},
     .sentence = "Only the first segment of a read chunk is read.",
     .server = {.arrival = read_first_segment_only}},
    {.name = "read-segments-swapped",
     .breaks = {"RFC8166-3.4.5-5"},
     .sentence = "The segments of a read chunk are concatenated in reverse order.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      change_read_list(arriving, [](wire::Header& header, View /*payload*/) {
                        std::ranges::reverse(header.read_list);
                      });
                    }}},
    {.name = "read-position-ignored",
     .breaks = {"RFC8166-4.3.1.1-1", "RFC8267-6.1-2"},
     .sentence = "Read chunks are appended to the payload stream whatever their position.",
     .server = {.arrival = append_chunks, .call = [](peer::CallStep& call) { call.chunks = {}; }}},
    {.name = "read-pad-kept",
     .breaks = {"RFC8166-3.4.5-5"},
     .sentence = "Roundup inside a read chunk becomes part of the item.",
     .server = {.call = count_roundup}},
    {.name = "reads-after-reply",
     .breaks = {"RFC8166-3.4.5.1-1"},
     .sentence = "Read chunks are read once more after the reply.",
     .server = {.departure = read_again}},
    {.name = "reduced-name-accepted",
     .breaks = {"RFC8166-6.1-3", "RFC8166-3.4.4.3-1", "RFC8267-6.1-5"},
     .sentence = "A call with a reduced item that is not eligible is executed.",
     .server = {.call = [](peer::CallStep& call) { call.chunks = {}; }}},
    {.name = "write-data-shifted",
     .breaks = {"RFC8267-4-1"},
     .sentence = "WRITE stores data from a read chunk one octet too far.",
     .server = {.call = rotate_data}},
    {.name = "reply-to-other-call",
     .breaks = {"RFC8166-4.2.1-1"},
     .sentence = "While another call is being pulled, a reply carries that call's XID.",
     .server = {.departure = take_other_xid}},
};

}  // namespace

std::span<const Deviation> read_chunks_family() {
  return kReadChunks;
}

}  // namespace steertag::deviations
