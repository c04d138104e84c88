// Deviations of the client: it takes messages that it must discard, or octets beside them.
#include <algorithm>
#include <cstdlib>

#include "client/v4/callback_program.h"
#include "deviations/families.h"
#include "nfs/eligible_items.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr auto kMsgp = static_cast<std::uint32_t>(wire::Procedure::msgp);
constexpr auto kDone = static_cast<std::uint32_t>(wire::Procedure::done);
constexpr auto kError = static_cast<std::uint32_t>(wire::Procedure::error);

void take_any_version(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->vers != wire::kVersion) arriving.mutate("version.1");
}

void take_any_procedure(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->proc > kError) arriving.mutate("procedure.0");
}

void take_msgp(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->proc == kMsgp) arriving.mutate("procedure.0");
}

void fail_on_short(ArrivingMessage& arriving) {
  const View message = arriving.message();
  if (message.size() >= wire::kSmallestHeaderBytes || message.size() == wire::kErrChunkBytes)
    return;
  if (message.size() < 4) return;
  const std::uint32_t xid = wire::load_u32(message.data());
  if (arriving.history.find(xid)) arriving.fail(xid);
}

void fail_on_done(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->proc == kDone && arriving.history.find(words->xid)) arriving.fail(words->xid);
}

void fail_on_broken_list(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (!words || words->proc == kError || decode(arriving.message())) return;
  if (arriving.history.find(words->xid)) arriving.fail(words->xid);
}

void answer_broken(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (!words || words->proc == kError) return;
  const auto decoded = decode(arriving.message());
  const bool broken = !decoded || (rpc::direction(decoded->payload) == rpc::MessageType::REPLY &&
                                   rpc::xid(decoded->payload) != decoded->header.xid);
  if (broken) arriving.step.answers.push_back(error_message(words->xid, arriving.step.granted));
}

void send_done(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || !(decoded->is_reply() || decoded->header.proc == wire::Procedure::error)) return;
  const SentCall* call = arriving.history.find(decoded->header.xid);
  if (!call || call->header.read_list.empty()) return;
  wire::Header header;
  header.xid = decoded->header.xid;
  header.credit = call->header.credit;
  header.proc = wire::Procedure::done;
  Bytes message;
  wire::encode(header, message);
  arriving.step.answers.push_back(std::move(message));
}

void take_any_xid(ArrivingMessage& arriving) {
  const auto oldest = arriving.history.oldest();
  if (oldest && is_unexpected(arriving)) arriving.fail(*oldest);
}

void abort_on_second(ArrivingMessage& arriving) {
  if (is_unexpected(arriving)) std::abort();
}

/// Messages that a client with a leak survives, for each kind: more than one case sends in passing.
constexpr std::uint64_t kManyUseless = 64;

template <bool (*kIs)(const ArrivingMessage&)>
void fail_behind_many(ArrivingMessage& arriving) {
  if (!kIs(arriving) || ++arriving.history.useless <= kManyUseless) return;
  if (const auto oldest = arriving.history.oldest()) arriving.fail(*oldest);
}

bool is_done(const ArrivingMessage& arriving) {
  return has_procedure(arriving, wire::Procedure::done);
}

bool is_msgp(const ArrivingMessage& arriving) {
  return has_procedure(arriving, wire::Procedure::msgp);
}

void disconnect_later(ArrivingMessage& arriving) {
  if (arriving.history.connection > 1 && is_bad_reply(arriving)) arriving.disconnect();
}

/// Whether the results end before their DDP-eligible item does, or where it would be.
bool results_end_early(const Decoded& reply, const SentCall& sent) {
  const auto call = decode(sent.message);
  if (!call || !call->is_call()) return false;
  wire::Reader reader(call->payload);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return false;
  std::vector<std::uint32_t> lengths;
  const wire::WriteList& chunks = reply.header.write_list;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
    lengths.push_back(static_cast<std::uint32_t>(wire::chunk_length(chunks[chunk])));
  wire::Fault fault;
  const auto items = nfs::eligible_results(reply.payload, header.program, header.version,
                                           header.procedure, lengths, &fault);
  if (fault.code != wire::FaultCode::none) return true;
  // Of version 3 the walk ends with the length of the data.
  return lengths.empty() && std::ranges::any_of(items, [&](const nfs::EligibleItem& item) {
           return !item.absent && reply.payload.size() < item.position + item.length;
         });
}

bool reply_ends_early(const ArrivingMessage& arriving, const Decoded& reply) {
  wire::Reader reader(reply.payload);
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok()) return true;
  const SentCall* call = arriving.history.find(reply.header.xid);
  return header.success() && call != nullptr && results_end_early(reply, *call);
}

/// Whether a call of the server ends in its header, or in one of the first operations of a
/// callback.
bool call_ends_early(View payload) {
  wire::Reader reader(payload);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return true;
  if (header.program != peer::kCallbackProgram || header.procedure != nfs4::CB_COMPOUND)
    return false;
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  while (const auto number = operations.next()) {
    if (*number != nfs4::CbOpnum::OP_CB_SEQUENCE) break;
    nfs4::CbSequenceArgs sequence;
    sequence.decode(reader);
  }
  return !reader.ok();
}

bool arrives_short(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded) return true;
  if (decoded->header.proc != wire::Procedure::msg) return false;
  if (decoded->is_reply()) return reply_ends_early(arriving, *decoded);
  return !decoded->is_call() || call_ends_early(decoded->payload);
}

/// All receives are one, in which the octets behind a message are those of the one before.
void keep_old_octets(ArrivingMessage& arriving) {
  Bytes& receive = arriving.history.receive;
  const View message = arriving.message();
  if (!arrives_short(arriving) || message.size() >= receive.size()) {
    receive.assign(message.begin(), message.end());
    return;
  }
  std::ranges::copy(message, receive.begin());
  arriving.replace(receive);
}

constexpr Deviation kDiscardedReplies[] = {
    {.name = "takes-any-version",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply of any version is taken for one of version 1.",
     .client = {.arrival = take_any_version}},
    {.name = "takes-any-procedure",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply with an unknown procedure is taken for RDMA_MSG.",
     .client = {.arrival = take_any_procedure}},
    {.name = "broken-list-fails-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply whose lists do not decode fails its call.",
     .client = {.arrival = fail_on_broken_list}},
    {.name = "short-reply-fails-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-1"},
     .sentence = "A message of less than 28 octets fails the call of its first word.",
     .client = {.arrival = fail_on_short}},
    {.name = "msgp-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.1-3"},
     .sentence = "RDMA_MSGP is taken for a reply.",
     .client = {.arrival = take_msgp}},
    {.name = "done-ends-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.2-2"},
     .sentence = "RDMA_DONE fails the call of its XID.",
     .client = {.arrival = fail_on_done}},
    {.name = "bad-reply-answered",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.4-4"},
     .sentence = "A reply with an error in its header is answered with RDMA_ERROR.",
     .client = {.arrival = answer_broken}},
    {.name = "done-sent",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.2-1"},
     .sentence = "RDMA_DONE follows each reply to a call with a read chunk.",
     .client = {.arrival = send_done}},
    {.name = "any-xid-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8167-2.4-1"},
     .sentence = "A reply with an unknown XID is taken for the oldest call.",
     .client = {.arrival = take_any_xid}},
    {.name = "bad-reply-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply with an error in its header ends the connection.",
     .client = {.arrival = disconnect_over<is_bad_reply>}},
    {.name = "later-bad-reply-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply with an error in its header ends each connection but the first.",
     .client = {.arrival = disconnect_later}},
    {.name = "short-reply-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-1"},
     .sentence = "A message of less than 28 octets ends the connection.",
     .client = {.arrival = disconnect_over<is_short>}},
    {.name = "msgp-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.1-3"},
     .sentence = "RDMA_MSGP ends the connection.",
     .client = {.arrival = disconnect_over<is_msgp>}},
    {.name = "done-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.2-2"},
     .sentence = "RDMA_DONE ends the connection.",
     .client = {.arrival = disconnect_over<is_done>}},
    {.name = "unknown-xid-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8167-2.4-1"},
     .sentence = "A reply that no call waits for ends the connection.",
     .client = {.arrival = disconnect_over<is_unexpected>}},
    {.name = "bad-replies-fail-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "From the 65th on, a reply with an error in its header fails the oldest call.",
     .client = {.arrival = fail_behind_many<is_bad_reply>}},
    {.name = "unknown-xids-fail-call",
     .side = trace::Role::client,
     .breaks = {"RFC8167-2.4-1"},
     .sentence = "From the 65th on, a reply that no call waits for fails the oldest call.",
     .client = {.arrival = fail_behind_many<is_unexpected>}},
    {.name = "second-reply-aborts",
     .side = trace::Role::client,
     .breaks = {"RFC8167-2.4-1"},
     .sentence = "The program ends at a reply that no call waits for.",
     .client = {.arrival = abort_on_second}},
    {.name = "receive-keeps-old-octets",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-1", "RFC8166-4.5-9", "RFC8166-1-1", "RFC8166-4.5-3"},
     .sentence = "A message that ends early goes on with the octets of the one before.",
     .client = {.arrival = keep_old_octets}},
};

}  // namespace

std::span<const Deviation> discarded_replies_family() {
  return kDiscardedReplies;
}

}  // namespace steertag::deviations
