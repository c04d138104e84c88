// One Send, decoded once and classified: the input of every rule on messages.
#pragma once

#include <optional>

#include "conformance/call.h"
#include "conformance/connection_state.h"
#include "wire/header.h"

namespace steertag::conformance {

enum class Kind : std::uint8_t {
  empty,      // a zero-length Send
  too_short,  // RFC 8166 4.5: must be discarded
  done,       // RDMA_DONE of any length
  msgp,       // RDMA_MSGP that decodes
  error,      // RDMA_ERROR of at least 20 octets; its format is not checked yet
  faulty,     // the header does not decode, or it carries no RPC message
  call,
  reply,
};

struct Message {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  trace::Role sender = trace::Role::client;
  View bytes;
  std::optional<std::uint32_t> invalidated;

  Kind kind = Kind::empty;
  wire::FixedWords words;  // zeros if there are fewer than 16 octets
  wire::Header* header = nullptr;
  wire::Fault fault;  // of the header
  View payload;       // the part of the payload stream in the Send

  bool inline_payload() const { return header->proc != wire::Procedure::nomsg; }
};

/// Opens a finding against the message's sender (see Findings::open).
inline Finding* open_finding(const Rule& rule, const Message& message, Connection& connection) {
  return connection.findings.open(rule, message.sender, message.event);
}

/// Decodes into `scratch`, which must outlive the message.
Message read_message(const trace::Event& event, const trace::Send& send, wire::Header& scratch,
                     Connection& connection);

/// The RPC header of an inline call.
std::optional<RpcCall> read_rpc_call(const Message& message);

/// Length of the position-zero read chunk (RFC 8166 3.5.3); nothing if there is none.
std::optional<std::uint64_t> position_zero_length(const wire::Header& header);

}  // namespace steertag::conformance
