// Encoding and decoding of communication manager messages.
#include "rdma/infiniband/cm_message.h"

#include <algorithm>

#include "rdma/infiniband/mad.h"
#include "rdma/octets.h"

namespace steertag::rdma::infiniband {
namespace {

std::uint32_t load24(const std::byte* from) {
  return load32(from) >> 8;
}

// Offsets from the start of the management datagram's data.
constexpr std::size_t kRequestService = 8;
constexpr std::size_t kRequestQueuePair = 32;
constexpr std::size_t kRequestTransport = 43;
constexpr std::size_t kRequestPsn = 44;
constexpr std::size_t kRequestMtu = 50;
constexpr std::size_t kRequestLocalLid = 52;
constexpr std::size_t kRequestRemoteLid = 54;
constexpr std::size_t kReplyQueuePair = 12;
constexpr std::size_t kReplyPsn = 20;
constexpr std::size_t kRejectReason = 10;
constexpr std::size_t kDisconnectQueuePair = 8;

void store24(std::byte* to, std::uint32_t value) {
  store8(to, static_cast<std::uint8_t>(value >> 16));
  store16(to + 1, static_cast<std::uint16_t>(value));
}

void decode_request(const std::byte* data, CmMessage& message) {
  message.remote_id = 0;
  message.service = load64(data + kRequestService);
  message.queue_pair = load24(data + kRequestQueuePair);
  message.reliable = (load8(data + kRequestTransport) >> 1 & 3) == 0;
  message.starting_psn = load24(data + kRequestPsn);
  message.path_mtu = static_cast<std::uint8_t>(load8(data + kRequestMtu) >> 4);
  message.local_lid = load16(data + kRequestLocalLid);
  message.remote_lid = load16(data + kRequestRemoteLid);
}

void encode_request(const CmMessage& message, std::byte* to) {
  store64(to + kRequestService, message.service);
  store24(to + kRequestQueuePair, message.queue_pair);
  store8(to + kRequestTransport, message.reliable ? 0 : 2);
  store24(to + kRequestPsn, message.starting_psn);
  store16(to + kRequestMtu - 2, 0xffff);  // partition key
  store8(to + kRequestMtu, static_cast<std::uint8_t>(message.path_mtu << 4));
  store16(to + kRequestLocalLid, message.local_lid);
  store16(to + kRequestRemoteLid, message.remote_lid);
}

}  // namespace

std::string_view name(CmKind kind) {
  switch (kind) {
    case CmKind::connect_request:
      return "ConnectRequest";
    case CmKind::message_receipt_ack:
      return "MsgRcptAck";
    case CmKind::connect_reject:
      return "ConnectReject";
    case CmKind::connect_reply:
      return "ConnectReply";
    case CmKind::ready_to_use:
      return "ReadyToUse";
    case CmKind::disconnect_request:
      return "DisconnectRequest";
    case CmKind::disconnect_reply:
      return "DisconnectReply";
  }
  return "other message";
}

CmLayout layout(CmKind kind) {
  switch (kind) {
    case CmKind::connect_request:
      return {56, 140, kRequestPrivateBytes};
    case CmKind::connect_reject:
      return {12, 84, kRejectPrivateBytes};
    case CmKind::connect_reply:
      return {24, 36, kReplyPrivateBytes};
    case CmKind::ready_to_use:
      return {8, 8, kReadyPrivateBytes};
    case CmKind::disconnect_request:
      return {12, 12, kDisconnectPrivateBytes};
    case CmKind::disconnect_reply:
      return {8, 8, kDisconnectedPrivateBytes};
    case CmKind::message_receipt_ack:
      return {};
  }
  return {};
}

std::optional<CmMessage> decode_cm(std::uint16_t attribute, View data) {
  CmMessage message;
  message.kind = static_cast<CmKind>(attribute);
  const CmLayout size = layout(message.kind);
  if (size.needed == 0 || data.size() < size.needed) return std::nullopt;
  message.local_id = load32(data.data());
  message.remote_id = load32(data.data() + 4);
  switch (message.kind) {
    case CmKind::connect_request:
      decode_request(data.data(), message);
      break;
    case CmKind::connect_reply:
      message.queue_pair = load24(data.data() + kReplyQueuePair);
      message.starting_psn = load24(data.data() + kReplyPsn);
      break;
    case CmKind::connect_reject:
      message.reason = load16(data.data() + kRejectReason);
      break;
    case CmKind::disconnect_request:
      message.queue_pair = load24(data.data() + kDisconnectQueuePair);
      break;
    default:
      break;
  }
  const View rest = data.subspan(std::min(data.size(), size.fields));
  message.private_data = rest.first(std::min(rest.size(), size.private_data));
  return message;
}

void encode(const CmMessage& message, std::byte* to) {
  std::fill_n(to, kMadDataBytes, std::byte{0});
  store32(to, message.local_id);
  if (message.kind == CmKind::connect_request) {
    encode_request(message, to);
  } else {
    store32(to + 4, message.remote_id);
  }
  if (message.kind == CmKind::connect_reply) {
    store24(to + kReplyQueuePair, message.queue_pair);
    store24(to + kReplyPsn, message.starting_psn);
  }
  if (message.kind == CmKind::connect_reject) store16(to + kRejectReason, message.reason);
  if (message.kind == CmKind::disconnect_request) {
    store24(to + kDisconnectQueuePair, message.queue_pair);
  }
  const CmLayout size = layout(message.kind);
  const std::size_t count = std::min(message.private_data.size(), size.private_data);
  std::copy_n(message.private_data.begin(), count, to + size.fields);
}

}  // namespace steertag::rdma::infiniband
