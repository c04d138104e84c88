// Deviations in the fixed words of replies, and in how often a reply is sent.
#include <algorithm>
#include <utility>

#include "deviations/families.h"
#include "mutate/catalogue.h"

namespace steertag::deviations {
namespace {

void change_rpc_xid(peer::ReplyStep& reply) {
  if (!reply.rdma) return;
  wire::Draft draft;
  std::swap(draft.payload, reply.reply.stream());
  (void)mutate::apply_mutation(draft, "rpc-xid.differs");
  std::swap(draft.payload, reply.reply.stream());
}

void send_done_after(Departing& reply) {
  if (!reply.is_reply()) return;
  wire::Draft done = reply.draft;
  (void)mutate::apply_mutation(done, "procedure.done");
  wire::encode(done, reply.sends_after.emplace_back());
}

void count_grant_down(Departing& reply) {
  if (!reply.is_reply() || reply.draft.credit == 0) return;
  const std::uint64_t most = reply.draft.credit - 1;
  reply.draft.credit -= static_cast<std::uint32_t>(std::min(reply.history->replies, most));
}

constexpr Deviation kReplyHeader[] = {
    {.name = "reply-vers-two",
     .breaks = {"RFC8166-4.2.2-1", "RFC8166-4.1.2-13"},
     .sentence = "Replies carry 2 in rdma_vers.",
     .server = {.mutation = {replies, "version.2"}}},
    {.name = "reply-xid-plus-one",
     .breaks = {"RFC8166-4.2.1-1", "RFC8166-4.2-1"},
     .sentence = "The header of a reply carries the call's XID plus one.",
     .server = {.mutation = {replies, "xid.plus-1"}}},
    {.name = "reply-xid-byte-swapped",
     .breaks = {"RFC8166-4-1", "RFC8166-4.2.1-1"},
     .sentence = "The header of a reply carries the call's XID in little-endian order.",
     .server = {.mutation = {replies, "xid.octets-swapped"}}},
    {.name = "reply-rpc-xid-differs",
     .breaks = {"RFC8166-4.2.1-1", "RFC8166-4-3"},
     .sentence = "The RPC reply carries another XID than the header before it.",
     .server = {.reply = change_rpc_xid}},
    {.name = "reply-record-mark",
     .breaks = {"RFC8166-3.2-2", "RFC8166-3.2-1", "RFC8166-4.2.4-1", "RFC8166-4.7-1"},
     .sentence = "A TCP record mark stands before the RPC reply.",
     .server = {.mutation = {inline_replies, "payload.record-mark"}}},
    {.name = "reply-msgp",
     .breaks = {"RFC8166-4.6.1-1", "RFC8166-4.1.2-6", "RFC8166-4.1.2-8", "RFC8166-4.1.2-12"},
     .sentence = "Inline replies are sent as RDMA_MSGP.",
     .server = {.mutation = {inline_replies, "procedure.msgp"}}},
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
     .server = {.mutation = {replies, "credit.0"}}},
    {.name = "grants-count-down",
     .breaks = {"RFC8166-3.3.1-7"},
     .sentence = "Each reply grants one credit less than the one before it, down to one.",
     .server = {.departure = count_grant_down},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> reply_header_family() {
  return kReplyHeader;
}

}  // namespace steertag::deviations
