// What the changes of a client share.
#include "deviations/client/client_change.h"

#include <algorithm>

namespace steertag::deviations {

SentCall* ClientHistory::find(std::uint32_t xid) {
  const auto found = waiting.find(xid);
  return found == waiting.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> ClientHistory::oldest() const {
  const auto first =
      std::ranges::min_element(waiting, {}, [](const auto& entry) { return entry.second.number; });
  return first == waiting.end() ? std::nullopt : std::optional(first->first);
}

void ArrivingMessage::fail(std::uint32_t xid) const {
  replace(error_message(xid, step.granted));
}

bool is_small(const wire::Negotiated& limits) {
  return limits.to_server_bytes == wire::kDefaultInlineBytes;
}

Bytes error_message(std::uint32_t xid, std::uint32_t credit) {
  wire::Header header;
  header.xid = xid;
  header.credit = credit;
  header.proc = wire::Procedure::error;
  header.error = wire::ErrorCode::chunk;
  Bytes message;
  wire::encode(header, message);
  return message;
}

bool Decoded::is_call() const {
  return header.proc == wire::Procedure::msg && rpc::direction(payload) == rpc::MessageType::CALL;
}

bool Decoded::is_reply() const {
  return header.proc == wire::Procedure::nomsg ||
         (header.proc == wire::Procedure::msg &&
          rpc::direction(payload) == rpc::MessageType::REPLY);
}

std::optional<Decoded> decode(View message) {
  Decoded decoded;
  const auto payload = wire::decode(message, decoded.header);
  if (!payload) return std::nullopt;
  decoded.payload = *payload;
  return decoded;
}

}  // namespace steertag::deviations
