// What deviations do with messages that the conforming requester discards, and to others.
#include <cstdlib>

#include "client/rdma/requester.h"
#include "endpoint/session_request.h"
#include "rpc/direction.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kVersAt = 4;
constexpr std::size_t kProcAt = 12;
// RDMA_MSGP has two words more before its lists (RFC 8166 4.1.2), in octets.
constexpr std::size_t kMsgpWords = 8;

Bytes with_word(View message, std::size_t at, std::uint32_t word) {
  Bytes bent(message.begin(), message.end());
  if (bent.size() >= at + 4) wire::store_u32(bent.data() + at, word);
  return bent;
}

/// RFC 8167 4.1: whether the message says of itself that it is a call, or a reply.
bool has_direction(View message) {
  wire::Header header;
  const auto payload = wire::decode(message, header);
  return payload && header.proc == wire::Procedure::msg && rpc::direction(*payload);
}

}  // namespace

void Requester::advance_sequence(OutgoingCall& call) {
  const MutableView stream = call.stream();
  if (const auto request = session_request(stream))
    wire::store_u32(stream.data() + request->sequence_at, request->sequence + 1);
}

void Requester::advance_create_sequence(OutgoingCall& call) {
  const MutableView stream = call.stream();
  if (const auto at = create_sequence_at(stream))
    wire::store_u32(stream.data() + *at, wire::load_u32(stream.data() + *at) + 1);
}

void Requester::repost_used() {
  for (const ReceiveId receive : used_receives_) endpoint_->repost(receive);
  used_receives_.clear();
}

void Requester::bend_negotiated() {
  constexpr std::uint8_t kReserved = 0xFE;  // RFC 8797 4
  if (deviates(Deviation::missing_private_data_ignored) && !endpoint_->peer())
    negotiated_ = wire::negotiate(options_.announced, options_.announced);
  if (deviates(Deviation::announces_small_sends) && endpoint_->peer())
    negotiated_ = wire::negotiate(options_.announced, *endpoint_->peer());
  if (const auto& found = endpoint_->found()) {
    if (deviates(Deviation::server_receive_size_ignored))
      negotiated_.to_server_bytes = options_.announced.send_bytes;
    const bool elsewhere = deviates(Deviation::format_at_offset_zero_only) && found->offset != 0;
    const bool reserved =
        deviates(Deviation::reserved_bits_heeded) && (found->raw_flags & kReserved) != 0;
    if (elsewhere || reserved) negotiated_ = wire::Negotiated{};
  }
  if (!first_negotiated_) first_negotiated_ = negotiated_;
  if (deviates(Deviation::thresholds_kept)) negotiated_ = *first_negotiated_;
}

void Requester::bend_endpoint(EndpointOptions& endpoint) const {
  endpoint.receives = bent_receives(endpoint.receives);
  if (deviates(Deviation::announces_small_sends)) endpoint.announced.send_bytes = 1024;
  if (deviates(Deviation::client_receives_below_1024)) {
    endpoint.announced.receive_bytes = 1024;
    endpoint.receive_bytes = 1000;
  }
  if (!deviates(Deviation::client_announces_reserved_bits) || !endpoint.sends_private_data) return;
  constexpr std::size_t kFlagsAt = 5;  // RFC 8797 4
  wire::encode(endpoint.announced, endpoint.raw_private_data.emplace());
  (*endpoint.raw_private_data)[kFlagsAt] |= std::byte{0xaa};
}

std::uint32_t Requester::bent_receives(std::uint32_t receives) const {
  const bool is_first = statistics_.connections == 1;
  if (deviates(Deviation::few_receives)) return kFewReceives;
  if (deviates(Deviation::receives_for_replies_only)) return credits_.requested() + kSpareReceives;
  if (is_first && deviates(Deviation::receives_come_with_session)) return 1;
  if (!is_first && deviates(Deviation::few_receives_after_reconnect)) return kFewReceivesAgain;
  return receives;
}

bool Requester::keeps_receive(ReceiveId receive, bool is_reverse) {
  const bool is_first = statistics_.connections == 1;
  const bool late = is_first && deviates(Deviation::receives_come_with_session);
  if (late && statistics_.replies >= kCallsToSession)
    endpoint_->add_receives(credits_.requested() + kSpareReceives + kReverseGrant);
  if (is_reverse && !is_first && deviates(Deviation::few_receives_after_reconnect)) return true;
  const bool waits = is_reverse && (late || deviates(Deviation::receives_for_replies_only));
  if (waits || deviates(Deviation::few_receives)) {
    used_receives_.push_back(receive);
    return true;
  }
  return false;
}

void Requester::send_again(OutgoingCall& call) {
  if (call.header().write_list.empty() || !session_request(call.stream())) return;
  Bytes message;
  for (const View part : call.parts()) message.insert(message.end(), part.begin(), part.end());
  send_beside(std::move(message));
}

void Requester::give_up_overtaken(std::uint32_t xid) {
  std::vector<std::uint32_t> overtaken;
  for (const auto& [other, call] : outstanding_) {
    const bool earlier = static_cast<std::int32_t>(other - xid) < 0;
    if (earlier && !call->header().write_list.empty() && session_request(call->stream()))
      overtaken.push_back(other);
  }
  for (const std::uint32_t other : overtaken) {
    if (OutgoingCall* call = find(other)) fail(*call, "a later reply came first");
  }
}

OutgoingCall* Requester::oldest() {
  OutgoingCall* found = nullptr;
  for (const auto& [xid, call] : outstanding_) {
    if (call->answered) continue;
    if (!found || static_cast<std::int32_t>(xid - found->xid()) < 0) found = call.get();
  }
  return found;
}

void Requester::fail(OutgoingCall& call, const char* why) {
  call.close_memory();
  credits_.on_reply(credits_.granted());
  complete(call, tl::unexpected(CallError{CallErrc::bad_reply, why}));
}

void Requester::send_done(std::uint32_t xid) {
  wire::Header header;
  header.xid = xid;
  header.credit = credits_.requested();
  header.proc = wire::Procedure::done;
  Bytes message;
  wire::encode(header, message);
  send_beside(std::move(message));
}

bool Requester::answers_reverse_calls() const {
  return deviates(Deviation::reverse_answer_vers_two) ||
         deviates(Deviation::reverse_answer_other_xid) ||
         deviates(Deviation::reverse_answer_type_call) ||
         deviates(Deviation::reverse_chunks_unanswered);
}

Bytes Requester::bent_reverse_answer(const wire::Header& call, Bytes reply) {
  // No program of a client that has none has a procedure for calls of the server.
  if (!reverse_) {
    wire::Writer writer(reply);
    rpc::ReplyHeader::accepted(call.xid, rpc::AcceptStatus::PROG_UNAVAIL).encode(writer);
  }
  constexpr std::size_t kTypeAt = 4;
  if (reply.size() < rpc::kSmallestReplyHeader) return reply;
  if (deviates(Deviation::reverse_answer_other_xid)) wire::store_u32(reply.data(), ~call.xid);
  if (deviates(Deviation::reverse_answer_type_call))
    wire::store_u32(reply.data() + kTypeAt, static_cast<std::uint32_t>(rpc::MessageType::CALL));
  return reply;
}

bool Requester::bend(View message) {
  if (deviates(Deviation::invalid_reply_opens_window) && credits_.granted() == 1)
    credits_.set_grant(2 + options_.reserve);
  const auto words = wire::peek(message);
  if (message.size() < wire::kSmallestHeaderBytes && message.size() != wire::kErrChunkBytes) {
    OutgoingCall* call = message.size() >= 4 ? find(wire::load_u32(message.data())) : nullptr;
    if (call && deviates(Deviation::short_reply_fails_call)) return fail(*call, "short"), true;
  }
  if (!words) return false;
  if (deviates(Deviation::undirected_credit_taken) && !has_direction(message))
    credits_.set_grant(words->credit);
  const bool is_version_one = words->vers == wire::kVersion;
  if (!is_version_one && deviates(Deviation::takes_any_version)) {
    handle(with_word(message, kVersAt, wire::kVersion));
    return true;
  }
  constexpr auto kMsgp = static_cast<std::uint32_t>(wire::Procedure::msgp);
  constexpr auto kDone = static_cast<std::uint32_t>(wire::Procedure::done);
  constexpr auto kError = static_cast<std::uint32_t>(wire::Procedure::error);
  if (words->proc > kError && deviates(Deviation::takes_any_procedure)) {
    handle(with_word(message, kProcAt, 0));
    return true;
  }
  if (words->proc == kMsgp && deviates(Deviation::msgp_taken) &&
      message.size() > wire::kFixedBytes + kMsgpWords) {
    Bytes bent = with_word(message, kProcAt, 0);
    const auto first = bent.begin() + wire::kFixedBytes;
    bent.erase(first, first + kMsgpWords);
    handle(bent);
    return true;
  }
  if (words->proc == kDone && deviates(Deviation::done_ends_call)) {
    if (OutgoingCall* call = find(words->xid)) return fail(*call, "RDMA_DONE"), true;
  }
  wire::Header header;
  const auto payload = wire::decode(message, header);
  if (!payload) return bend_undecodable(message);
  return bend_unexpected(header, *payload);
}

bool Requester::bend_undecodable(View message) {
  const wire::FixedWords words = *wire::peek(message);
  if (deviates(Deviation::discarded_grant_used)) credits_.set_grant(words.credit);
  OutgoingCall* call = find(words.xid);
  const bool is_error = words.proc == static_cast<std::uint32_t>(wire::Procedure::error);
  if (!is_error && deviates(Deviation::bad_reply_answered)) send_error(words.xid);
  if (!call) return false;
  if (is_error && deviates(Deviation::undecodable_error_fails_call))
    return fail(*call, "an RDMA_ERROR"), true;
  if (!is_error && deviates(Deviation::broken_list_fails_call))
    return fail(*call, "a header with an error"), true;
  return false;
}

bool Requester::bend_unexpected(const wire::Header& header, View payload) {
  OutgoingCall* call = find(header.xid);
  if (header.proc == wire::Procedure::error) {
    if (deviates(Deviation::error_ignored)) return true;
    if (!call && oldest() && deviates(Deviation::error_fails_any_call))
      return handle_error(header, *oldest()), true;
    const bool again = deviates(Deviation::error_resent) ||
                       deviates(Deviation::error_retried_for_ever) ||
                       deviates(Deviation::error_retried_larger);
    if (call && again) return make_again(*call), true;
    return false;
  }
  const auto direction = rpc::direction(payload);
  if (direction == rpc::MessageType::CALL && header.proc == wire::Procedure::msg) {
    if (deviates(Deviation::reverse_credit_taken)) credits_.set_grant(header.credit);
    if (answers_reverse_calls()) return false;
    if (call && deviates(Deviation::reverse_call_taken)) return fail(*call, "a call"), true;
    return false;
  }
  const bool broken = direction == rpc::MessageType::REPLY && rpc::xid(payload) != header.xid;
  if (broken && deviates(Deviation::bad_reply_answered)) send_error(header.xid);
  if (!call && deviates(Deviation::second_reply_aborts)) std::abort();
  if (!call && oldest() && deviates(Deviation::any_xid_taken))
    return fail(*oldest(), "a reply with another XID"), true;
  return false;
}

void Requester::make_again(OutgoingCall& call) {
  auto again = outstanding_.extract(call.xid());
  OutgoingCall& same = *again.mapped();
  credits_.on_reply(credits_.granted());
  same.release_memory();
  if (!deviates(Deviation::error_resent)) same.rename(next_xid_++);
  if (deviates(Deviation::error_retried_larger)) same.ask_for_more();
  if (!deviates(Deviation::error_retried_for_ever) && ++same.resent > kMostAttempts)
    return tell(same, tl::unexpected(CallError{CallErrc::err_chunk, {}}));
  same.sends_outstanding = 0;
  ++statistics_.replies;
  queue_.push_back(std::move(again.mapped()));
}

}  // namespace steertag::peer
