// What becomes of a call: a reply, or the reason why there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/message.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "wire/header.h"

namespace steertag::peer {

enum class CallErrc : std::uint8_t {
  bad_call,         // what was to be sent is no RPC call
  err_chunk,        // the responder sent ERR_CHUNK: permanent (RFC 8166 4.5)
  err_vers,         // the responder sent ERR_VERS: permanent
  bad_reply,        // a reply that breaks a rule which makes the call fail (RFC 8166 6.1)
  rpc_error,        // accepted or denied, but not executed (RFC 5531)
  bad_results,      // the results do not decode
  connection_lost,  // and the named number of reconnects did not help
  timed_out,        // the deadline passed
  too_large,        // does not fit any form
  no_memory,        // the pool of registered memory cannot hold it
  too_many_calls,   // as many as may wait at a time wait already
};
std::string_view sentence(CallErrc code);

struct CallError {
  CallErrc code = CallErrc::bad_call;
  std::string detail;
  std::string message() const;
};

/// A reply as it was received. Views are valid during the callback only; the memory is closed to
/// the server already.
struct CallReply {
  const wire::Header* header = nullptr;  // the transport header; none over TCP
  rpc::ReplyHeader rpc;
  View payload;                       // the payload stream, reduced if `item_reduced`
  View results;                       // the part of it behind the RPC header
  bool item_reduced = false;          // the eligible result is in a write chunk, or was placed
  View item;                          // that result, without roundup
  std::vector<View> items{};          // those of Request::results; empty where one failed
  bool remotely_invalidated = false;  // an STag of this call, by Send with Invalidate
};

/// Why a reply has no results: the name of its accept_stat, reject_stat or auth_stat.
std::string_view refusal(const rpc::ReplyHeader& reply);

using CallCallback = std::function<void(Expected<CallReply, CallError>)>;

}  // namespace steertag::peer
