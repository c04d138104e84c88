// Encoding and decoding of communication manager messages.
#include "rdma/infiniband/cm_message.h"

#include <algorithm>

#include "rdma/infiniband/mad.h"
#include "rdma/octets.h"

namespace steertag::rdma::infiniband {
namespace {

/// Reads fields at offsets from the start of the management datagram's data.
class FieldReader {
 public:
  explicit FieldReader(const std::byte* from) : from_(from) {}
  void word8(std::size_t at, std::uint8_t& value) const { value = load8(from_ + at); }
  void word16(std::size_t at, std::uint16_t& value) const { value = load16(from_ + at); }
  void word24(std::size_t at, std::uint32_t& value) const { value = load32(from_ + at) >> 8; }
  void word32(std::size_t at, std::uint32_t& value) const { value = load32(from_ + at); }
  void word64(std::size_t at, std::uint64_t& value) const { value = load64(from_ + at); }
  void octets(std::size_t at, std::array<std::byte, 16>& value) const {
    std::copy_n(from_ + at, value.size(), value.begin());
  }
  /// `width` bits, `shift` bits above the octet's lowest.
  template <class Value>
  void bits(std::size_t at, int shift, int width, Value& value) const {
    value = static_cast<Value>(load8(from_ + at) >> shift & ((1 << width) - 1));
  }
  /// The upper 20 bits of a word.
  void label(std::size_t at, std::uint32_t& value) const { value = load32(from_ + at) >> 12; }

 private:
  const std::byte* from_;
};

/// Writes the same fields. The octets are zero before.
class FieldWriter {
 public:
  explicit FieldWriter(std::byte* to) : to_(to) {}
  void word8(std::size_t at, std::uint8_t value) const { store8(to_ + at, value); }
  void word16(std::size_t at, std::uint16_t value) const { store16(to_ + at, value); }
  void word24(std::size_t at, std::uint32_t value) const {
    store8(to_ + at, static_cast<std::uint8_t>(value >> 16));
    store16(to_ + at + 1, static_cast<std::uint16_t>(value));
  }
  void word32(std::size_t at, std::uint32_t value) const { store32(to_ + at, value); }
  void word64(std::size_t at, std::uint64_t value) const { store64(to_ + at, value); }
  void octets(std::size_t at, const std::array<std::byte, 16>& value) const {
    std::ranges::copy(value, to_ + at);
  }
  template <class Value>
  void bits(std::size_t at, int shift, int width, Value value) const {
    const int part = (static_cast<int>(value) & ((1 << width) - 1)) << shift;
    store8(to_ + at, static_cast<std::uint8_t>(load8(to_ + at) | part));
  }
  void label(std::size_t at, std::uint32_t value) const {
    word24(at, (value & 0xfffff) << 4);  // the word's last octet has another field
  }

 private:
  std::byte* to_;
};

// One list of fields serves both directions.
template <class Fields, class Path>
void path_fields(const Fields& fields, std::size_t at, Path& path) {
  fields.word16(at, path.local_lid);
  fields.word16(at + 2, path.remote_lid);
  fields.octets(at + 4, path.local_gid);
  fields.octets(at + 20, path.remote_gid);
  fields.label(at + 36, path.flow_label);
  fields.bits(at + 39, 0, 6, path.packet_rate);
  fields.word8(at + 40, path.traffic_class);
  fields.word8(at + 41, path.hop_limit);
  fields.bits(at + 42, 4, 4, path.service_level);
  fields.bits(at + 42, 3, 1, path.subnet_local);
  fields.bits(at + 43, 3, 5, path.local_ack_timeout);
}

// Not listed: fields of reliable datagrams, and the extended transport type.
template <class Fields, class Message>
void request_fields(const Fields& fields, Message& message) {
  fields.word64(8, message.service);
  fields.word64(16, message.local_guid);
  fields.word32(28, message.queue_key);
  fields.word24(32, message.queue_pair);
  fields.word8(35, message.responder_resources);
  fields.word8(39, message.initiator_depth);
  fields.bits(43, 3, 5, message.remote_response_timeout);
  fields.bits(43, 1, 2, message.service_type);
  fields.bits(43, 0, 1, message.flow_control);
  fields.word24(44, message.starting_psn);
  fields.bits(47, 3, 5, message.local_response_timeout);
  fields.bits(47, 0, 3, message.retry_count);
  fields.word16(48, message.partition);
  fields.bits(50, 4, 4, message.path_mtu);
  fields.bits(50, 0, 3, message.rnr_retry_count);
  fields.bits(51, 4, 4, message.max_cm_retries);
  fields.bits(51, 3, 1, message.shared_receive_queue);
  path_fields(fields, 52, message.primary);
  path_fields(fields, 96, message.alternate);
}

template <class Fields, class Message>
void reply_fields(const Fields& fields, Message& message) {
  fields.word32(8, message.queue_key);
  fields.word24(12, message.queue_pair);
  fields.word24(20, message.starting_psn);
  fields.word8(24, message.responder_resources);
  fields.word8(25, message.initiator_depth);
  fields.bits(26, 3, 5, message.target_ack_delay);
  fields.bits(26, 1, 2, message.failover_accepted);
  fields.bits(26, 0, 1, message.flow_control);
  fields.bits(27, 5, 3, message.rnr_retry_count);
  fields.bits(27, 4, 1, message.shared_receive_queue);
  fields.word64(28, message.local_guid);
}

template <class Fields, class Message>
void message_fields(const Fields& fields, Message& message) {
  fields.word32(0, message.local_id);
  if (message.kind != CmKind::connect_request) fields.word32(4, message.remote_id);
  switch (message.kind) {
    case CmKind::connect_request:
      return request_fields(fields, message);
    case CmKind::connect_reply:
      return reply_fields(fields, message);
    case CmKind::message_receipt_ack:
      fields.bits(8, 6, 2, message.subject);
      fields.bits(9, 3, 5, message.service_timeout);
      return;
    case CmKind::connect_reject:
      fields.bits(8, 6, 2, message.subject);
      fields.bits(9, 1, 7, message.additional_bytes);
      fields.word16(10, message.reason);
      return;
    case CmKind::disconnect_request:
      fields.word24(8, message.queue_pair);
      return;
    case CmKind::ready_to_use:
    case CmKind::disconnect_reply:
      return;
  }
}

constexpr std::size_t kAdditionalAt = 12;  // of a REJ
constexpr std::size_t kMostFieldBytes = 140;

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
      return {10, 10, kReceiptPrivateBytes};
  }
  return {};
}

std::optional<CmMessage> decode_cm(std::uint16_t attribute, View data) {
  CmMessage message;
  message.kind = static_cast<CmKind>(attribute);
  const CmLayout size = layout(message.kind);
  if (size.needed == 0 || data.size() < size.needed) return std::nullopt;
  std::array<std::byte, kMostFieldBytes> fields{};
  std::copy_n(data.begin(), std::min(data.size(), size.fields), fields.begin());
  message_fields(FieldReader(fields.data()), message);
  if (message.kind == CmKind::connect_reject) {
    const std::size_t most = std::min<std::size_t>(message.additional_bytes, kMostAdditionalBytes);
    const View behind = data.subspan(std::min(data.size(), kAdditionalAt));
    message.additional = behind.first(std::min(behind.size(), most));
  }
  const View rest = data.subspan(std::min(data.size(), size.fields));
  message.private_data = rest.first(std::min(rest.size(), size.private_data));
  return message;
}

void encode(const CmMessage& message, std::byte* to) {
  std::fill_n(to, kMadDataBytes, std::byte{0});
  message_fields(FieldWriter(to), message);
  if (message.kind == CmKind::connect_reject) {
    const std::size_t count = std::min(message.additional.size(), kMostAdditionalBytes);
    std::copy_n(message.additional.begin(), count, to + kAdditionalAt);
  }
  const CmLayout size = layout(message.kind);
  const std::size_t count = std::min(message.private_data.size(), size.private_data);
  std::copy_n(message.private_data.begin(), count, to + size.fields);
}

}  // namespace steertag::rdma::infiniband
