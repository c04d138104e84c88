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
  if (interposed_) {
    CallbackStep step{info_.id, true, message};
    context_.options.interposer->on_callback(step);
    if (step.withheld) return true;
  }
  // RFC 8167 4.2: a receive for every reply before its call leaves.
  endpoint_.add_receives(kReverseCredits);
  wire::Header header;
  header.xid = wire::load_u32(message.data());
  header.vers = wire::kVersion;
  header.credit = kReverseCredits;
  header.proc = wire::Procedure::msg;
  const WorkTag tag = kCallbackTag | next_callback_++;
  auto& parts = sent_callbacks_[tag];
  wire::encode(header, parts[0]);
  parts[1] = std::move(message);
  const std::array<View, 2> views{parts[0], parts[1]};
  if (interposed_) {
    Departure departure;
    departure.kind = Departure::Kind::callback;
    departure.parts = views;
    if (context_.options.interposer->on_departure(interposed_, departure)) {
      sent_callbacks_.erase(tag);
      return true;
    }
  }
  if (endpoint_.send(views, tag)) return true;
  sent_callbacks_.erase(tag);
  drop();
  return false;
}

std::size_t ServerConnection::largest_callback() const {
  const std::size_t threshold = endpoint_.negotiated().to_client_bytes;
  return threshold < wire::kSmallestHeaderBytes ? 0 : threshold - wire::kSmallestHeaderBytes;
}

std::size_t ServerConnection::largest_callback_reply() const {
  const std::size_t threshold = endpoint_.negotiated().to_server_bytes;
  return threshold < wire::kSmallestHeaderBytes ? 0 : threshold - wire::kSmallestHeaderBytes;
}

bool ServerConnection::take_callback_reply(View message) {
  const auto words = wire::peek(message);
  if (!words) return false;
  if (words->vers != wire::kVersion) return false;
  if (words->proc == static_cast<std::uint32_t>(wire::Procedure::error)) {
    const net::Error refused{net::Errc::protocol_error, "the client answered with RDMA_ERROR"};
    if (!callbacks_->fail(words->xid, refused)) return false;
  } else {
    // No upper-layer binding lets a callback's reply be reduced, so it has no chunks (RFC
    // 8267 6.5).
    if (words->proc != static_cast<std::uint32_t>(wire::Procedure::msg)) return false;
    const auto payload = plain_payload(message);
    if (!payload || rpc::direction(*payload) != rpc::MessageType::REPLY ||
        rpc::xid(*payload) != words->xid)
      return false;
    if (!callbacks_->take_reply(*payload, words->credit)) return false;
  }
  return true;
}

void ServerConnection::on_callback_sent(WorkTag tag) {
  sent_callbacks_.erase(tag);
}

}  // namespace steertag::peer
