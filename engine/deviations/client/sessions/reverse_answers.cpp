// Deviations of the client: how it answers calls of the server (RFC 8167 5).
#include "deviations/families.h"
#include "mutate/catalogue.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

bool has_chunks(const wire::Header& header) {
  return !header.read_list.empty() || !header.write_list.empty() || header.has_reply_chunk;
}

/// RDMA_ERROR stays as it is.
void mutate_reply(Bytes& message, std::string_view mutation) {
  if (message.size() > wire::kSmallestHeaderBytes) (void)mutate::apply_mutation(message, mutation);
}

void answer_version_two(Bytes& message) {
  mutate_reply(message, "version.2");
}

void answer_other_xid(Bytes& message) {
  mutate_reply(message, "rpc-xid.inverted");
}

void answer_as_call(Bytes& message) {
  mutate_reply(message, "rpc-type.0");
}

void answer_plainly(Bytes& /*message*/) {}

/// Answers for a client without any program for calls of the server.
template <void (*kChange)(Bytes&), bool kRefusesChunks = true>
void answer_for_none(ArrivingMessage& arriving) {
  const auto call = decode(arriving.message());
  if (arriving.step.serves_reverse || !call || !call->is_call()) return;
  arriving.take();
  if (rpc::xid(call->payload) != call->header.xid) return;
  if (has_chunks(call->header)) {
    if (kRefusesChunks)
      arriving.step.answers.push_back(error_message(call->header.xid, peer::kReverseGrant));
    return;
  }
  wire::Header header;
  header.xid = call->header.xid;
  header.credit = peer::kReverseGrant;
  Bytes message;
  wire::encode(header, message);
  wire::Writer writer(message);
  rpc::ReplyHeader::accepted(header.xid, rpc::AcceptStatus::PROG_UNAVAIL).encode(writer);
  kChange(message);
  arriving.step.answers.push_back(std::move(message));
}

constexpr std::size_t kNullCallBytes = 40;  // no credential, no verifier, no arguments

template <void (*kChange)(Bytes&)>
void change_answer(peer::AnswerStep& step, ClientHistory& /*history*/) {
  kChange(step.message);
}

void take_call(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (decoded && decoded->is_call() && arriving.history.find(decoded->header.xid))
    arriving.fail(decoded->header.xid);
}

bool is_call_with_chunks(const ArrivingMessage& arriving) {
  const auto call = decode(arriving.message());
  return call && call->is_call() && has_chunks(call->header);
}

/// A call that is cut in its RPC header, or has not even a direction.
bool is_cut_call(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  return decoded && decoded->header.proc == wire::Procedure::msg && !decoded->is_reply() &&
         decoded->payload.size() < kNullCallBytes;
}

constexpr std::uint64_t kManyCalls = 64;

/// An error is all that such a call gets.
void withhold_many_errors(peer::AnswerStep& step, ClientHistory& history) {
  step.withheld = has_chunks(step.call) && ++history.useless > kManyCalls;
}

void withhold_many(peer::AnswerStep& step, ClientHistory& history) {
  step.withheld = ++history.useless > kManyCalls;
}

/// Answers share the credits of the client's own calls.
void withhold_beyond_grant(peer::AnswerStep& step, ClientHistory& history) {
  step.withheld = history.waiting.size() >= history.grant;
}

/// The whole RPC reply in the answer; nothing if it is an error, or does not decode.
std::optional<rpc::ReplyHeader> reply_in(View message, std::size_t& at) {
  const auto decoded = decode(message);
  if (!decoded || !decoded->is_reply()) return std::nullopt;
  at = message.size() - decoded->payload.size();
  wire::Reader reader(decoded->payload);
  rpc::ReplyHeader reply;
  reply.decode(reader);
  return reader.ok() ? std::optional(reply) : std::nullopt;
}

/// Calls that are refused by this status count as executed, without results.
template <rpc::AcceptStatus kStatus>
void accept_refused(Bytes& message) {
  std::size_t at = 0;
  const auto reply = reply_in(message, at);
  if (!reply || reply->status != rpc::ReplyStatus::MSG_ACCEPTED || reply->accept_status != kStatus)
    return;
  message.resize(at);
  wire::Writer writer(message);
  rpc::ReplyHeader::accepted(reply->xid, rpc::AcceptStatus::SUCCESS).encode(writer);
}

/// The range of versions is the widest.
void widen_versions(Bytes& message) {
  std::size_t at = 0;
  const auto reply = reply_in(message, at);
  if (!reply || reply->accept_status != rpc::AcceptStatus::PROG_MISMATCH) return;
  message.resize(at);
  wire::Writer writer(message);
  rpc::ReplyHeader::program_mismatch(reply->xid, {0, 0xffffffff}).encode(writer);
}

/// A call of another version of RPC is accepted.
void accept_rpc_version(Bytes& message) {
  std::size_t at = 0;
  const auto reply = reply_in(message, at);
  if (!reply || reply->status != rpc::ReplyStatus::MSG_DENIED) return;
  message.resize(at);
  wire::Writer writer(message);
  rpc::ReplyHeader::accepted(reply->xid, rpc::AcceptStatus::SUCCESS).encode(writer);
}

constexpr Deviation kReverseAnswers[] = {
    {.name = "callback-rpc-version-taken",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-3"},
     .sentence = "A callback of any RPC version is accepted.",
     .client = {.answer = change_answer<accept_rpc_version>}},
    {.name = "callback-program-taken",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-4"},
     .sentence = "A callback to any program is accepted.",
     .client = {.answer = change_answer<accept_refused<rpc::AcceptStatus::PROG_UNAVAIL>>}},
    {.name = "callback-version-range-widest",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-5"},
     .sentence = "A callback of an unsupported version is refused with a range that holds it.",
     .client = {.answer = change_answer<widen_versions>}},
    {.name = "callback-procedure-taken",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-6"},
     .sentence = "A callback to any procedure is accepted.",
     .client = {.answer = change_answer<accept_refused<rpc::AcceptStatus::PROC_UNAVAIL>>}},
    {.name = "reverse-call-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8167-2.4.1-1"},
     .sentence = "A call of the other direction is taken for the reply to the call with its XID.",
     .client = {.arrival = take_call}},
    {.name = "reverse-answer-vers-two",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.2-2", "RFC8166-4.2.2-1"},
     .sentence = "Calls of the other direction are answered with 2 in rdma_vers.",
     .client = {.arrival = answer_for_none<answer_version_two>,
                .answer = change_answer<answer_version_two>}},
    {.name = "reverse-answer-other-xid",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.2-3"},
     .sentence = "The RPC reply to a call of the other direction has another XID than its header.",
     .client = {.arrival = answer_for_none<answer_other_xid>,
                .answer = change_answer<answer_other_xid>}},
    {.name = "reverse-answer-type-call",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.2-4"},
     .sentence = "The answer to a call of the other direction has the message type CALL.",
     .client = {.arrival = answer_for_none<answer_as_call>,
                .answer = change_answer<answer_as_call>}},
    {.name = "reverse-chunks-disconnect",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.3-3"},
     .sentence = "A call of the other direction with chunks ends the connection.",
     .client = {.arrival = disconnect_over<is_call_with_chunks>}},
    {.name = "malformed-reverse-call-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.1-5"},
     .sentence = "A call of the other direction that is cut in its RPC header ends the connection.",
     .client = {.arrival = disconnect_over<is_cut_call>}},
    {.name = "reverse-answers-need-credit",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.1-1"},
     .sentence = "Calls of the other direction get no answer while all forward credits are in use.",
     .client = {.answer = withhold_beyond_grant}},
    {.name = "reverse-errors-run-out",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.3-3"},
     .sentence = "Of the calls of the other direction with chunks 64 get an error.",
     .client = {.answer = withhold_many_errors}},
    {.name = "reverse-answers-run-out",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.3.1-1"},
     .sentence = "Of the calls of the other direction 64 are answered.",
     .client = {.answer = withhold_many}},
    {.name = "reverse-chunks-unanswered",
     .side = trace::Role::client,
     .breaks = {"RFC8167-5.3-3"},
     .sentence = "Of the calls of the other direction those with chunks are not answered.",
     .client = {.arrival = answer_for_none<answer_plainly, false>,
                .answer = [](peer::AnswerStep& step,
                             ClientHistory&) { step.withheld = has_chunks(step.call); }}},
};

}  // namespace

std::span<const Deviation> reverse_answers_family() {
  return kReverseAnswers;
}

}  // namespace steertag::deviations
