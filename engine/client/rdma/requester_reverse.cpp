// The calls of the server on the client's connection (RFC 8167), as messages.
// What they hold is the business of a ReverseService.
#include "client/rdma/requester.h"
#include "rpc/direction.h"

namespace steertag::peer {
namespace {

/// Marks the sends that are no calls; the tag of a call is its XID.
constexpr WorkTag kBesideTag = WorkTag{1} << 32;

std::size_t without_header(std::uint32_t threshold) {
  return threshold < wire::kSmallestHeaderBytes ? 0 : threshold - wire::kSmallestHeaderBytes;
}

}  // namespace

std::optional<ReverseLimits> Requester::reverse_limits() const {
  return ReverseLimits{without_header(negotiated_.to_client_bytes),
                       without_header(negotiated_.to_server_bytes)};
}

bool Requester::send_beside(Bytes message) {
  if (beside_.size() >= kMostUnsentAnswers) return false;
  const WorkTag tag = kBesideTag + next_beside_++;
  const View view = beside_[tag] = std::move(message);
  if (endpoint_->send({&view, 1}, tag)) return true;
  beside_.erase(tag);
  return false;
}

void Requester::send_answer(const wire::Header& call, View payload, Bytes message) {
  if (options_.interposer) {
    AnswerStep step{call, payload, message};
    options_.interposer->on_answer(step);
    if (step.withheld) return;
  }
  send_beside(std::move(message));
}

bool Requester::take_reverse(const wire::Header& header, View payload) {
  const bool is_call =
      header.proc == wire::Procedure::msg && rpc::direction(payload) == rpc::MessageType::CALL;
  // Nothing but its read list tells a long call from a reply, which has none. Under the XID of a
  // call that waits it may as well be a reply with a fault, to which no answer is due.
  const bool is_long_call = header.proc == wire::Procedure::nomsg && !header.read_list.empty() &&
                            find(header.xid) == nullptr;
  if (!is_call && !is_long_call) return false;
  if (!reverse_) return true;
  // RFC 8167 5.1: one XID in both places.
  if (is_call && rpc::xid(payload) != header.xid) return true;
  ++statistics_.reverse_calls;
  // RFC 8167 5.3: no item of a callback is DDP-eligible, so that chunks are not supported.
  if (is_long_call || !header.read_list.empty() || !header.write_list.empty() ||
      header.has_reply_chunk) {
    wire::Header error;
    error.xid = header.xid;
    error.credit = credits_.requested();
    error.proc = wire::Procedure::error;
    error.error = wire::ErrorCode::chunk;
    Bytes message;
    wire::encode(error, message);
    send_answer(header, payload, std::move(message));
    return true;
  }
  if (Bytes message = answer_reverse(header, payload); !message.empty())
    send_answer(header, payload, std::move(message));
  return true;
}

Bytes Requester::answer_reverse(const wire::Header& call, View payload) {
  const Bytes reply = reverse_->answer(payload);
  if (reply.empty()) return {};
  wire::Header header;
  header.xid = call.xid;
  header.credit = kReverseGrant;
  // RFC 8166 4.5.3: a reply that does not fit, for which no chunk was offered.
  const bool fits = reply.size() <= reverse_limits()->reply_bytes;
  header.proc = fits ? wire::Procedure::msg : wire::Procedure::error;
  header.error = wire::ErrorCode::chunk;
  Bytes message;
  wire::encode(header, message);
  if (fits) message.insert(message.end(), reply.begin(), reply.end());
  return message;
}

}  // namespace steertag::peer
