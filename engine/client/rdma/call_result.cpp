// Sentences for failed calls.
#include "client/rdma/call_result.h"

namespace steertag::peer {

std::string_view sentence(CallErrc code) {
  switch (code) {
    case CallErrc::bad_call:
      return "this is no RPC call";
    case CallErrc::err_chunk:
      return "the responder answered with ERR_CHUNK";
    case CallErrc::err_vers:
      return "the responder answered with ERR_VERS";
    case CallErrc::bad_reply:
      return "the reply breaks a rule of the transport or of the binding";
    case CallErrc::rpc_error:
      return "the call was not executed";
    case CallErrc::bad_results:
      return "the results do not decode";
    case CallErrc::connection_lost:
      return "the connection was lost";
    case CallErrc::timed_out:
      return "the deadline passed";
    case CallErrc::too_large:
      return "the call fits no form of message";
    case CallErrc::no_memory:
      return "there is not enough registered memory";
    case CallErrc::too_many_calls:
      return "too many calls wait already";
  }
  return "unknown error";
}

std::string CallError::message() const {
  const std::string first(sentence(code));
  return detail.empty() ? first : first + ": " + detail;
}

std::string_view refusal(const rpc::ReplyHeader& reply) {
  if (reply.status == rpc::ReplyStatus::MSG_ACCEPTED) return rpc::name(reply.accept_status);
  if (reply.reject_status == rpc::RejectStatus::AUTH_ERROR) return rpc::name(reply.auth_status);
  return rpc::name(reply.reject_status);
}

}  // namespace steertag::peer
