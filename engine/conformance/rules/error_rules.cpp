// Rules on RDMA_ERROR: checks and texts.
#include "conformance/rules/error_rules.h"

#include "conformance/rules/xid_rules.h"
#include "conformance/text.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

constexpr auto kErrVers = static_cast<std::uint32_t>(wire::ErrorCode::vers);
constexpr auto kErrChunk = static_cast<std::uint32_t>(wire::ErrorCode::chunk);

std::uint32_t error_code(const Message& message) {
  return wire::load_u32(message.bytes.data() + wire::kFixedBytes);
}

void check_size(const Rule& rule, std::size_t size, const Message& message,
                Connection& connection) {
  if (message.bytes.size() == size) return;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = say("a message of ", size, " octets");
    finding->observed = say(message.bytes.size(), " octets with rdma_err ", error_code(message));
  }
}

}  // namespace

void check_error_shape(const Message& message, Connection& connection) {
  const std::uint32_t code = error_code(message);
  if (code == kErrVers) {
    return check_size(kErrVersHas28Octets, wire::kErrVersBytes, message, connection);
  }
  if (code == kErrChunk) {
    return check_size(kErrChunkHas20Octets, wire::kErrChunkBytes, message, connection);
  }
  if (Finding* finding = open_finding(kErrorCodeIsKnown, message, connection)) {
    finding->expected = "rdma_err 1 or 2";
    finding->observed = say("rdma_err ", code);
  }
}

void check_error_request(const Message& message, const Call& call, Connection& connection) {
  if (call.messages != 1) return;  // it is unknown which one it answers
  if (message.words.vers != call.vers) {
    if (Finding* finding = open_finding(kErrorCopiesTheVersion, message, connection)) {
      finding->expected = say("rdma_vers ", call.vers, " as in ",
                              connection.visibility.index_counts, " ", call.event);
      finding->observed = say("rdma_vers ", message.words.vers);
    }
  }
  if (error_code(message) != kErrVers || message.bytes.size() < wire::kErrVersBytes) return;
  const std::uint32_t low = wire::load_u32(message.bytes.data() + wire::kFixedBytes + 4);
  const std::uint32_t high = wire::load_u32(message.bytes.data() + wire::kFixedBytes + 8);
  if (low <= high && (call.vers < low || call.vers > high)) return;
  if (Finding* finding = open_finding(kErrVersExcludesTheVersion, message, connection)) {
    finding->expected = say("versions low to high without the request's version ", call.vers);
    finding->observed = say("low ", low, ", high ", high);
  }
}

void check_unexpected_error(const Message& message, const Call* record, Connection& connection) {
  Direction& answered = connection.direction(trace::other(message.sender));
  if (answered.history_incomplete) return;
  if (record != nullptr && check_discarded(message, *record, connection)) return;
  // RFC 8166 4.2.4: its sender is a responder only if the other side has sent calls.
  const bool copied = answered.used || message.sender == trace::Role::server;
  const Rule& rule = copied ? kErrorCopiesTheXid : kRequesterSendsNoError;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected =
        copied ? "the XID of a request that awaits its answer" : "no RDMA_ERROR from a requester";
    finding->observed = say("RDMA_ERROR with rdma_xid ", Hex{message.words.xid});
  }
}

}  // namespace steertag::conformance
