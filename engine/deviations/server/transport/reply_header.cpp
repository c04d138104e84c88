// Deviations in the fixed words of replies, and in how often a reply is sent.
#include <algorithm>

#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr auto kMsg = static_cast<std::uint32_t>(wire::Procedure::msg);
constexpr auto kMsgp = static_cast<std::uint32_t>(wire::Procedure::msgp);

void insert_record_mark(Departing& reply) {
  if (!reply.is_reply() || reply.draft.proc != kMsg) return;
  constexpr std::uint32_t kLastFragment = 0x80000000;  // RFC 5531 11
  Bytes mark;
  wire::Writer(mark).u32(kLastFragment | static_cast<std::uint32_t>(reply.draft.payload.size()));
  reply.draft.payload.insert(reply.draft.payload.begin(), mark.begin(), mark.end());
}

void change_rpc_xid(peer::ReplyStep& reply) {
  Bytes& stream = reply.reply.stream();
  if (reply.rdma && stream.size() >= 4)
    wire::store_u32(stream.data(), wire::load_u32(stream.data()) ^ 1);
}

void send_done_after(Departing& reply) {
  if (!reply.is_reply()) return;
  wire::Header done;
  done.xid = reply.call->xid;
  done.credit = reply.draft.credit;
  done.proc = wire::Procedure::done;
  wire::encode(done, reply.sends_after.emplace_back());
}

void count_grant_down(Departing& reply) {
  if (!reply.is_reply() || reply.draft.credit == 0) return;
  const std::uint64_t most = reply.draft.credit - 1;
  reply.draft.credit -= static_cast<std::uint32_t>(std::min(reply.history->replies, most));
}

constexpr Deviation kFamily[] = {
    {.name = "reply-vers-two",
     .breaks = {"RFC8166-4.2.2-1", "RFC8166-4.1.2-13"},
     .sentence = "Replies carry 2 in rdma_vers.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.vers = 2;
                    }}},
    {.name = "reply-xid-plus-one",
     .breaks = {"RFC8166-4.2.1-1", "RFC8166-4.2-1"},
     .sentence = "The header of a reply carries the call's XID plus one.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) ++reply.draft.xid;
                    }}},
    {.name = "reply-xid-byte-swapped",
     .breaks = {"RFC8166-4-1"},
     .sentence = "The header of a reply carries the call's XID in little-endian order.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.xid = __builtin_bswap32(reply.draft.xid);
                    }}},
    {.name = "reply-rpc-xid-differs",
     .breaks = {"RFC8166-4.2.1-1", "RFC8166-4-3"},
     .sentence = "The RPC reply carries another XID than the header before it.",
     .server = {.reply = change_rpc_xid}},
    {.name = "reply-record-mark",
     .breaks = {"RFC8166-3.2-2", "RFC8166-3.2-1", "RFC8166-4.2.4-1", "RFC8166-4.7-1"},
     .sentence = "A TCP record mark stands before the RPC reply.",
     .server = {.departure = insert_record_mark}},
    {.name = "reply-msgp",
     .breaks = {"RFC8166-4.6.1-1", "RFC8166-4.1.2-6", "RFC8166-4.1.2-8", "RFC8166-4.1.2-12"},
     .sentence = "Inline replies are sent as RDMA_MSGP.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply() && reply.draft.proc == kMsg) reply.draft.proc = kMsgp;
                    }}},
    {.name = "reply-then-done",
     .breaks = {"RFC8166-4.6.2-1"},
     .sentence = "An RDMA_DONE follows each reply.",
     .server = {.departure = send_done_after}},
    {.name = "replies-twice",
     .breaks = {"RFC8166-3.3.1-11"},
     .sentence = "Every reply is sent two times.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply())
                        wire::encode(reply.draft, reply.sends_after.emplace_back());
                    }}},
    {.name = "grants-zero",
     .breaks = {"RFC8166-3.3.1-5", "RFC8166-4.2.3-1"},
     .sentence = "Replies grant no credit.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.is_reply()) reply.draft.credit = 0;
                    }}},
    {.name = "grants-count-down",
     .breaks = {"RFC8166-3.3.1-7"},
     .sentence = "Each reply grants one credit less than the one before it, down to one.",
     .server = {.departure = count_grant_down},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> reply_header_family() {
  return kFamily;
}

}  // namespace steertag::deviations
