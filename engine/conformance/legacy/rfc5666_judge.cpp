// Checks and texts of the rules of RFC 5666 and RFC 5667.
#include "conformance/legacy/rfc5666_judge.h"

#include "conformance/legacy/rfc5666_rules.h"
#include "conformance/text.h"
#include "rpc/configuration.h"
#include "rpc/direction.h"
#include "wire/legacy/rfc5666.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

using Segments = std::span<const wire::Segment>;

struct Verdict {
  const Rule* rule = nullptr;  // nullptr: our limit, not the protocol's
  std::string_view expected;
};

bool is_other_error(const wire::Header& header) {
  return header.proc == wire::Procedure::error && header.error != wire::ErrorCode::vers &&
         header.error != wire::ErrorCode::chunk;
}

Verdict verdict_of(const wire::Fault& fault, const wire::Header& header) {
  using wire::FaultCode;
  switch (fault.code) {
    case FaultCode::bad_version:
      return {&kRfc5666VersionIsOne, "rdma_vers 1"};
    case FaultCode::no_chunk:
      return {&kRfc5666LongMessageComesFirst, "a chunk at position zero, or the reply chunk"};
    case FaultCode::limit_exceeded:
      return {};
    case FaultCode::truncated:
      if (is_other_error(header)) return {&kRfc5666OtherErrorHasEightWords, "eight words"};
      break;
    case FaultCode::trailing_bytes:
      if (is_other_error(header)) return {&kRfc5666OtherErrorHasEightWords, "eight words"};
      if (header.proc != wire::Procedure::nomsg) {
        return {&kRfc5666DoneAndErrorEnd, "the end of the message"};
      }
      break;
    default:
      break;
  }
  return {&kRfc5666HeaderIsXdr, "fixed words, and the body of one of five procedures"};
}

bool same_memory(Segments offered, Segments returned) {
  if (offered.size() != returned.size()) return false;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (offered[i].handle != returned[i].handle || offered[i].offset != returned[i].offset) {
      return false;
    }
  }
  return true;
}

/// Whether the octets of a chunk stay within its memory. An item's roundup may exceed it: RFC 5666
/// 3.7 counts the roundup in the last segment with data.
bool in_reach(Segments offered, Segments returned) {
  const std::uint64_t all = wire::chunk_length(offered);
  if (wire::chunk_length(returned) > wire::roundup4(all)) return false;
  bool last = true;  // no later segment has data
  for (std::size_t i = offered.size(); i-- > 0;) {
    const std::uint64_t most = offered[i].length + std::uint64_t{last ? 3u : 0u};
    if (returned[i].length > most) return false;
    if (returned[i].length > 0) last = false;
  }
  return true;
}

bool in_order(Segments offered, Segments returned) {
  for (std::size_t i = 1; i < offered.size(); ++i) {
    if (returned[i].length > 0 && returned[i - 1].length < offered[i - 1].length) return false;
  }
  return true;
}

/// The number of offers of a write list.
std::size_t offers_of(const wire::WriteList& list) {
  return list.size() + list.segment_count();
}

template <class Value>
bool decodes(wire::Reader& reader, Value& value) {
  value.decode(reader);
  return reader.ok() && reader.remaining() == 0;
}

}  // namespace

void Rfc5666Judge::report(const Rule& rule, const trace::Event& event, std::string expected,
                          std::string observed) {
  Finding* finding = findings_.open(rule, event.actor, event.index);
  if (finding == nullptr) return;
  finding->expected = std::move(expected);
  finding->observed = std::move(observed) + say(" (rdma_xid ", Hex{header_.xid}, ")");
}

void Rfc5666Judge::report_fault(const trace::Event& event, const wire::Fault& fault) {
  const Verdict verdict = verdict_of(fault, header_);
  if (verdict.rule == nullptr) return;
  report(*verdict.rule, event, std::string(verdict.expected), fault.message());
}

Rfc5666Judge::Exchange* Rfc5666Judge::find(trace::Role requester) {
  return of(requester).exchanges.find(header_.xid);
}

std::uint64_t Rfc5666Judge::forgotten_calls() const {
  std::uint64_t sum = 0;
  for (const Requests& each : requests_) sum += each.exchanges.forgotten() + each.lists_not_kept;
  return sum;
}

void Rfc5666Judge::check_read_list(const trace::Event& event, bool call) {
  const auto& list = header_.read_list;
  bool data = false;  // preceded by a chunk that is not at position zero
  for (const wire::ReadSegment& each : list) {
    if (each.position == 0 && data) {
      report(kRfc5666LongMessageComesFirst, event, "position zero before all others",
             say("position zero behind another"));
      break;
    }
    data |= each.position != 0;
  }
  const bool long_message = header_.proc == wire::Procedure::nomsg;
  const bool in_read_chunk = !list.empty() && list.front().position == 0;
  if (long_message && !in_read_chunk && (call || !header_.has_reply_chunk)) {
    report(kRfc5666LongMessageComesFirst, event, "a chunk at position zero, or the reply chunk",
           "RDMA_NOMSG without a chunk that could hold the RPC message");
  }
  for (const wire::ReadSegment& each : list) {
    if (each.position % 4 == 0) continue;
    return report(kRfc5666NoChunkOfRoundup, event, "positions of items, multiples of four",
                  say("position ", each.position));
  }
}

bool Rfc5666Judge::is_configuration(const trace::Event& event, View payload) {
  wire::Reader reader(payload, wire::Values::any);
  rpc::CallHeader call;
  call.decode(reader);
  if (!reader.ok() || call.program != configuration::kProgram ||
      call.version != configuration::kVersion || call.procedure != configuration::kProcedure) {
    return false;
  }
  configuration::Request request;
  if (!decodes(reader, request)) {
    report(kRfc5666ConfigurationIsXdr, event, "maxcall_sendsize, maxreply_sendsize, maxrdmaread",
           say("arguments of ", payload.size() - rpc::kSmallestCallHeader, " octets"));
  }
  return true;
}

void Rfc5666Judge::take_configuration(const trace::Event& event, View payload) {
  wire::Reader reader(payload, wire::Values::any);
  rpc::ReplyHeader reply;
  reply.decode(reader);
  if (!reader.ok() || !reply.success()) return;
  configuration::Reply result;
  if (!decodes(reader, result)) {
    return report(kRfc5666ConfigurationIsXdr, event, "maxcall_sendsize, align, maxrdmaread",
                  say("a reply of ", payload.size(), " octets"));
  }
  if (event.actor == trace::Role::server) largest_call_ = result.maxcall_sendsize;
}

void Rfc5666Judge::on_call(const trace::Event& event, View payload) {
  if (event.actor == trace::Role::client && largest_call_ && payload.size() > *largest_call_) {
    report(kRfc5666CallFitsConfiguration, event, say("at most ", *largest_call_, " octets"),
           say("an inline call of ", payload.size(), " octets"));
  }
  Requests& requests = of(event.actor);
  Call call;
  call.configuration = is_configuration(event, payload);
  const std::size_t offers = offers_of(header_.write_list);
  if (requests.offers + offers <= kMostRfc5666Offers) {
    call.write_list = header_.write_list;
    requests.offers += offers;
  } else {
    ++requests.lists_not_kept;
  }
  const std::uint64_t forgotten = requests.exchanges.forgotten();
  auto gone = requests.exchanges.call(header_.xid, std::move(call));
  if (gone) release(requests, gone->value);
  // A repeated call may be executed twice, and then one of both is still in progress.
  const bool repeated = gone && gone->xid == header_.xid && !gone->answered;
  if (repeated || requests.exchanges.forgotten() != forgotten) requests.may_wait_unseen = true;
}

void Rfc5666Judge::release(Requests& requests, Call& call) {
  if (!call.write_list) return;
  requests.offers -= offers_of(*call.write_list);
  call.write_list.reset();
}

void Rfc5666Judge::settle(const trace::Event& event, Exchange& exchange) {
  Requests& requests = of(trace::other(event.actor));
  release(requests, exchange.value);
  requests.exchanges.answer(header_.xid, std::move(exchange.value));
  check_grant(event);
}

// RFC 5666 3.3: not zero when nothing is in progress.
void Rfc5666Judge::check_grant(const trace::Event& event) {
  const Requests& requests = of(trace::other(event.actor));
  if (!from_start_ || requests.may_wait_unseen) return;
  if (header_.credit == 0 && requests.exchanges.waiting() == 0) {
    report(kRfc5666GrantWhileIdle, event, "a grant of at least 1", "rdma_credit 0");
  }
}

void Rfc5666Judge::check_write_chunk(const trace::Event& event, Segments offered,
                                     Segments returned) {
  if (!same_memory(offered, returned)) {
    return report(kRfc5666WriteListIsReturned, event, "handles and offsets of the call",
                  "a write chunk of other memory");
  }
  const std::uint64_t length = wire::chunk_length(returned);
  if (wire::asks_for_inline(offered) && length > 0) {
    return report(kRfc5667EmptyChunkMeansInline, event, "nothing in a chunk without room",
                  say(length, " octets returned"));
  }
  if (!in_reach(offered, returned)) {
    return report(kRfc5666ReturnedLengthIsInReach, event,
                  say("at most ", wire::chunk_length(offered), " octets and their roundup"),
                  say(length, " octets returned"));
  }
  if (!in_order(offered, returned)) {
    report(kRfc5667SegmentsAreFilledInOrder, event, "a full segment before one with data",
           "data behind a segment that is not full");
  }
}

void Rfc5666Judge::check_write_list(const trace::Event& event, const wire::WriteList& offered) {
  const wire::WriteList& returned = header_.write_list;
  // RFC 5667 4: a server need not return entries that it ignores.
  if (returned.size() > offered.size()) {
    return report(kRfc5666WriteListIsReturned, event,
                  say("at most ", offered.size(), " write chunks"),
                  say(returned.size(), " write chunks"));
  }
  for (std::size_t i = 0; i < returned.size(); ++i) {
    check_write_chunk(event, offered[i], returned[i]);
  }
}

void Rfc5666Judge::on_reply(const trace::Event& event, View payload) {
  Exchange* exchange = find(trace::other(event.actor));
  if (exchange == nullptr) return;  // from before this capture, or evicted
  Call& call = exchange->value;
  if (call.configuration) take_configuration(event, payload);
  if (call.write_list) check_write_list(event, *call.write_list);
  if (!header_.read_list.empty()) ++call.open_replies;
  settle(event, *exchange);
}

void Rfc5666Judge::on_error(const trace::Event& event) {
  Exchange* exchange = find(trace::other(event.actor));
  if (exchange != nullptr) settle(event, *exchange);
}

void Rfc5666Judge::on_done(const trace::Event& event) {
  Exchange* exchange = find(event.actor);
  if (exchange == nullptr) return;  // from before this capture, or evicted
  std::uint32_t& open_replies = exchange->value.open_replies;
  if (open_replies > 0) {
    --open_replies;
    return;
  }
  report(kRfc5666DoneAnswersReadChunks, event,
         "a reply with read chunks under this XID that was not done yet",
         exchange->answered ? "RDMA_DONE for a reply without open read chunks"
                            : "RDMA_DONE for a call without a reply");
}

void Rfc5666Judge::on_send(const trace::Event& event, View bytes) {
  const auto payload = wire::decode(bytes, header_, wire::Document::rfc5666);
  if (!payload) {
    of(event.actor).may_wait_unseen = true;
    return report_fault(event, payload.error());
  }
  switch (header_.proc) {
    case wire::Procedure::done:
      return on_done(event);
    case wire::Procedure::error:
      return on_error(event);
    case wire::Procedure::msg:
    case wire::Procedure::msgp:
    case wire::Procedure::nomsg:
      break;
  }
  // The RPC message of RDMA_NOMSG is not visible. The side decides its direction.
  bool call = event.actor == trace::Role::client;
  if (header_.proc != wire::Procedure::nomsg) {
    const std::optional<rpc::MessageType> type = rpc::direction(*payload);
    if (!type || rpc::xid(*payload) != header_.xid) {
      of(event.actor).may_wait_unseen = true;
      return report(kRfc5666RpcMessageHasTheXid, event,
                    "an RPC message: the XID, then msg_type 0 (CALL) or 1 (REPLY)",
                    say(payload->size(), " octets that are none"));
    }
    call = *type == rpc::MessageType::CALL;
  }
  check_read_list(event, call);
  if (call) return on_call(event, *payload);
  on_reply(event, *payload);
}

void Rfc5666Judge::on_event(const trace::Event& event) {
  if (const auto* send = std::get_if<trace::Send>(&event.body)) return on_send(event, send->bytes);
  if (std::holds_alternative<trace::Connect>(event.body) ||
      std::holds_alternative<trace::Accept>(event.body)) {
    from_start_ = true;
  }
}

}  // namespace steertag::conformance
