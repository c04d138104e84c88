// Checks and texts of the prototype's rules.
#include "conformance/legacy/prototype_judge.h"

#include <algorithm>

#include "conformance/legacy/prototype_rules.h"
#include "conformance/text.h"
#include "rpc/direction.h"

namespace steertag::conformance {

namespace {

struct Verdict {
  const Rule* rule = nullptr;  // nullptr: our limit, not the prototype's
  std::string_view expected;
};

Verdict verdict_of(const wire::Fault& fault, const wire::PrototypeHeader& header) {
  using wire::FaultCode;
  switch (fault.code) {
    case FaultCode::truncated:
      if (fault.offset < wire::kPrototypeFixedBytes) {
        return {&kPrototypeHeaderIsWhole, "at least 12 octets"};
      }
      return {&kPrototypeListIsXdr, "a chunk list that ends inside the message"};
    case FaultCode::bad_enum:
      return {&kPrototypeTypeIsKnown, "type 0 or 1"};
    case FaultCode::bad_boolean:
      return {&kPrototypeListIsXdr, "presence word 0 or 1"};
    case FaultCode::bad_order:
      return {&kPrototypeOffsetsAscend, "an XDR offset that is not below the one before"};
    case FaultCode::position_zero_not_first:
      return {&kPrototypeOffsetZeroIsFirst, "XDR offset zero in the first entry only"};
    case FaultCode::trailing_bytes:
      if (header.type == wire::PrototypeType::done) {
        return {&kPrototypeDoneIsEmpty, "12 octets"};
      }
      return {&kPrototypeLongMessageIsNotInline, "the end of the message"};
    default:
      return {};
  }
}

}  // namespace

void PrototypeJudge::report(const Rule& rule, const trace::Event& event, std::string expected,
                            std::string observed) {
  Finding* finding = findings_.open(rule, event.actor, event.index);
  if (finding == nullptr) return;
  finding->expected = std::move(expected);
  finding->observed = std::move(observed) + say(" (xid ", Hex{header_.xid}, ")");
}

void PrototypeJudge::report_fault(const trace::Event& event, const wire::Fault& fault) {
  const Verdict verdict = verdict_of(fault, header_);
  if (verdict.rule == nullptr) return;
  report(*verdict.rule, event, std::string(verdict.expected), fault.message());
}

void PrototypeJudge::check_chunks(const trace::Event& event) {
  for (const wire::PrototypeChunk& each : header_.chunks) {
    // 3.4 is about parts of the RPC message. The size of the receives makes a message long.
    const std::uint32_t least =
        each.offset == 0 ? 1 : std::max<std::uint32_t>(least_chunk_bytes_, 1);
    if (each.length >= least) continue;
    return report(kPrototypeChunkHasLeastSize, event, say("at least ", least, " octets"),
                  say("a chunk of ", each.length, " octets at XDR offset ", each.offset));
  }
}

void PrototypeJudge::on_call(const trace::Event& event) {
  exchanges_.call(header_.xid, {});
  if (exchanges_.waiting() <= wire::kPrototypeReceives) return;
  report(kPrototypeCallsHaveReceives, event, say("at most ", wire::kPrototypeReceives, " calls"),
         say(exchanges_.waiting(), " calls without a reply"));
}

void PrototypeJudge::on_reply() {
  exchanges_.answer(header_.xid, {.open_chunks = !header_.chunks.empty()});
}

void PrototypeJudge::on_done(const trace::Event& event) {
  constexpr std::string_view kExpected = "a reply with chunks under this XID that was not done yet";
  if (event.actor == trace::Role::server) {
    return report(kPrototypeDoneAnswersChunks, event, "done messages of the client only",
                  "done from the server");
  }
  auto* exchange = exchanges_.find(header_.xid);
  if (exchange == nullptr) return;  // from before this capture, or evicted
  if (!exchange->value.open_chunks) {
    return report(kPrototypeDoneAnswersChunks, event, std::string(kExpected),
                  exchange->answered ? "done for a reply without open chunks"
                                     : "done for a call without a reply");
  }
  exchange->value.open_chunks = false;
}

void PrototypeJudge::on_send(const trace::Event& event, View bytes) {
  const Expected<View, wire::Fault> payload = wire::decode(bytes, header_);
  if (!payload) return report_fault(event, payload.error());
  if (bytes.size() > wire::kPrototypeReceiveBytes) {
    report(kPrototypeMessageFitsReceive, event,
           say("at most ", wire::kPrototypeReceiveBytes, " octets"), say(bytes.size(), " octets"));
  }
  if (header_.type == wire::PrototypeType::done) return on_done(event);
  check_chunks(event);
  // The RPC message of a long one is not visible. The side decides its direction.
  bool call = event.actor == trace::Role::client;
  if (!header_.is_long()) {
    const std::optional<rpc::MessageType> type = rpc::direction(*payload);
    if (!type) {
      return report(kPrototypeRpcMessageFollows, event,
                    "an RPC message: XID, then msg_type 0 (CALL) or 1 (REPLY)",
                    say(payload->size(), " octets that are none"));
    }
    call = *type == rpc::MessageType::CALL;
  }
  if (call) return on_call(event);
  on_reply();
}

void PrototypeJudge::on_event(const trace::Event& event) {
  if (const auto* send = std::get_if<trace::Send>(&event.body)) on_send(event, send->bytes);
}

}  // namespace steertag::conformance
