// The other direction of a connection (RFC 8167): the server calls, the client replies.
#include "rpc/direction.h"
#include "server/rdma/server_connection.h"

namespace steertag::peer {
namespace {

/// The payload of an RDMA_MSG with three empty lists; nothing for any other message.
std::optional<View> plain_payload(View message) {
  if (message.size() < wire::kSmallestHeaderBytes) return std::nullopt;
  for (std::size_t at = wire::kFixedBytes; at < wire::kSmallestHeaderBytes; at += 4) {
    if (wire::load_u32(message.data() + at) != 0) return std::nullopt;
  }
  return message.subspan(wire::kSmallestHeaderBytes);
}

}  // namespace

bool ServerConnection::send_callback(Bytes message) {
  if (dropped_ || down_ || !endpoint_.up()) return false;
  // RFC 8167 4.2: a receive for every reply before its call leaves.
  endpoint_.add_receives(kReverseCredits);
  wire::Header header;
  header.xid = wire::load_u32(message.data());
  header.vers = wire::kVersion;
  header.credit = kReverseCredits;
  header.proc = wire::Procedure::msg;
  bend_callback(header, message);
  const WorkTag tag = kCallbackTag | next_callback_++;
  auto& parts = sent_callbacks_[tag];
  wire::encode(header, parts[0]);
  parts[1] = std::move(message);
  const std::array<View, 2> views{parts[0], parts[1]};
  if (line_) {
    Departure departure;
    departure.kind = Departure::Kind::callback;
    departure.parts = views;
    if (context_.options.interposer->on_departure(line_, departure)) {
      sent_callbacks_.erase(tag);
      return true;
    }
  }
  if (endpoint_.send(views, tag)) return true;
  sent_callbacks_.erase(tag);
  drop();
  return false;
}

void ServerConnection::bend_callback(wire::Header& header, Bytes& message) const {
  if (deviates(Deviation::callback_vers_two)) header.vers = 2;
  if (deviates(Deviation::callback_xid_differs)) header.xid ^= 0x10000;
  if (deviates(Deviation::callback_asks_no_credit)) header.credit = 0;
  if (deviates(Deviation::callback_with_chunk)) header.write_list.add({});
  constexpr std::size_t kSmallestRecall = 128;  // CB_NULL stays as it is
  // Nothing is there to be read: whoever judges the call has no need to.
  if (deviates(Deviation::callback_with_read_chunk) && message.size() >= kSmallestRecall)
    header.read_list.push_back({static_cast<std::uint32_t>(message.size()), {1, 4, 0}});
  if (deviates(Deviation::callback_above_threshold) && message.size() >= kSmallestRecall)
    message.resize(wire::roundup4(endpoint_.negotiated().to_client_bytes));
}

std::size_t ServerConnection::largest_callback() const {
  const std::size_t threshold = endpoint_.negotiated().to_client_bytes;
  return threshold < wire::kSmallestHeaderBytes ? 0 : threshold - wire::kSmallestHeaderBytes;
}

std::size_t ServerConnection::largest_callback_reply() const {
  const std::size_t threshold = endpoint_.negotiated().to_server_bytes;
  return threshold < wire::kSmallestHeaderBytes ? 0 : threshold - wire::kSmallestHeaderBytes;
}

bool ServerConnection::take_callback_reply(ReceiveId receive, View message) {
  const auto words = wire::peek(message);
  if (!words) return false;
  if (bend_callback_reply(*words, message)) {
    endpoint_.repost(receive);
    return true;
  }
  if (words->vers != wire::kVersion && !deviates(Deviation::reply_version_ignored)) return false;
  if (words->proc == static_cast<std::uint32_t>(wire::Procedure::error)) {
    const net::Error refused{net::Errc::protocol_error, "the client answered with RDMA_ERROR"};
    if (!callbacks_->fail(words->xid, refused)) return false;
  } else {
    // No upper-layer binding lets a callback's reply be reduced, so it has no chunks (RFC
    // 8267 6.5).
    if (words->proc != static_cast<std::uint32_t>(wire::Procedure::msg)) return false;
    const auto payload = plain_payload(message);
    if (!payload || rpc::direction(*payload) != rpc::MessageType::REPLY ||
        (rpc::xid(*payload) != words->xid && !deviates(Deviation::reply_rpc_xid_alone)))
      return false;
    const std::uint32_t grant =
        deviates(Deviation::callbacks_above_grant) ? kReverseCredits : words->credit;
    if (!callbacks_->take_reply(*payload)) {
      if (deviates(Deviation::unknown_reply_disconnects)) drop();
      return false;
    }
    callbacks_->grant(grant);
  }
  endpoint_.repost(receive);
  if (deviates(Deviation::forward_calls_wait_for_callback)) go_on();
  return true;
}

bool ServerConnection::bend_callback_reply(const wire::FixedWords& words, View message) {
  if (!deviates(Deviation::any_message_grants_callbacks) &&
      !deviates(Deviation::equal_xids_confused))
    return false;
  const auto procedure = static_cast<wire::Procedure>(words.proc);
  const auto payload = plain_payload(message);
  const auto direction = payload ? rpc::direction(*payload) : std::nullopt;
  const bool carries_rpc = procedure == wire::Procedure::msg && direction;
  if (deviates(Deviation::any_message_grants_callbacks) && !carries_rpc)
    callbacks_->grant(words.credit);
  const net::Error mistaken{net::Errc::protocol_error, "a call was taken for the reply"};
  return deviates(Deviation::equal_xids_confused) && direction == rpc::MessageType::CALL &&
         callbacks_->fail(words.xid, mistaken);
}

void ServerConnection::on_callback_sent(WorkTag tag) {
  sent_callbacks_.erase(tag);
}

}  // namespace steertag::peer
