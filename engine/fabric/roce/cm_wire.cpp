// The fields of connection setup that rdma/infiniband does not decode.
#include "fabric/roce/cm_wire.h"

#include <algorithm>

namespace steertag::fabric::roce {
namespace {

constexpr std::uint8_t kRateDefault = 3;  // 10 Gb/s: no meaning over UDP
constexpr std::uint8_t kHopLimit = 64;

std::byte high(std::uint8_t value, int width) {
  return static_cast<std::byte>(value << (8 - width));
}
std::uint8_t top(std::byte octet, int width) {
  return static_cast<std::uint8_t>(std::to_integer<unsigned>(octet) >> (8 - width));
}

void encode_request(const Mad& mad, std::byte* data) {
  store8(data + 35, mad.responder_resources);
  store8(data + 39, mad.initiator_depth);
  data[43] = high(mad.response_timeout, 5);
  data[47] = high(mad.response_timeout, 5) | std::byte(mad.retries & 7);
  data[50] |= std::byte(mad.rnr_retries & 7);
  data[51] = high(mad.tries, 4);
  std::ranges::copy(mad.local_gid, data + 56);
  std::ranges::copy(mad.remote_gid, data + 72);
  store8(data + 91, kRateDefault);
  store8(data + 93, kHopLimit);
  data[95] = high(mad.ack_timeout, 5);
}

void decode_request(const std::byte* data, Mad& mad) {
  mad.responder_resources = load8(data + 35);
  mad.initiator_depth = load8(data + 39);
  mad.response_timeout = top(data[47], 5);
  mad.retries = load8(data + 47) & 7;
  mad.rnr_retries = load8(data + 50) & 7;
  mad.tries = top(data[51], 4);
  std::copy_n(data + 56, 16, mad.local_gid.begin());
  std::copy_n(data + 72, 16, mad.remote_gid.begin());
  mad.ack_timeout = top(data[95], 5);
}

}  // namespace

MadOctets encode_mad(const Mad& mad) {
  MadOctets octets{};
  wire::MadHeader header;
  header.transaction = mad.transaction;
  header.attribute = static_cast<std::uint16_t>(mad.message.kind);
  encode(header, octets.data());
  std::byte* const data = octets.data() + wire::kMadHeaderBytes;
  if (mad.message.kind == CmKind::message_receipt_ack) {
    store32(data, mad.message.local_id);
    store32(data + 4, mad.message.remote_id);
    data[8] = high(mad.answers, 2);
    data[9] = high(mad.service_timeout, 5);
    return octets;
  }
  wire::encode(mad.message, data);
  switch (mad.message.kind) {
    case CmKind::connect_request:
      encode_request(mad, data);
      break;
    case CmKind::connect_reply:
      store8(data + 24, mad.responder_resources);
      store8(data + 25, mad.initiator_depth);
      data[27] = high(mad.rnr_retries, 3);
      break;
    case CmKind::connect_reject:
      data[8] = high(mad.answers, 2);
      break;
    default:
      break;
  }
  return octets;
}

std::optional<Mad> decode_mad(View octets) {
  if (octets.size() != wire::kMadBytes) {
    return std::nullopt;
  }
  const wire::MadHeader header = wire::decode_mad_header(octets.data());
  if (!header.is_communication()) {
    return std::nullopt;
  }
  const View body = octets.subspan(wire::kMadHeaderBytes);
  Mad mad;
  mad.transaction = header.transaction;
  if (static_cast<CmKind>(header.attribute) == CmKind::message_receipt_ack) {
    mad.message.kind = CmKind::message_receipt_ack;
    mad.message.local_id = load32(body.data());
    mad.message.remote_id = load32(body.data() + 4);
    mad.answers = top(body[8], 2);
    mad.service_timeout = top(body[9], 5);
    return mad;
  }
  const auto message = wire::decode_cm(header.attribute, body);
  if (!message) {
    return std::nullopt;
  }
  mad.message = *message;
  switch (message->kind) {
    case CmKind::connect_request:
      decode_request(body.data(), mad);
      break;
    case CmKind::connect_reply:
      mad.responder_resources = load8(body.data() + 24);
      mad.initiator_depth = load8(body.data() + 25);
      mad.rnr_retries = top(body[27], 3);
      break;
    case CmKind::connect_reject:
      mad.answers = top(body[8], 2);
      break;
    default:
      break;
  }
  return mad;
}

std::int64_t timeout_microseconds(std::uint8_t exponent) {
  constexpr std::int64_t kUnitNanoseconds = 4096;
  return (kUnitNanoseconds << std::min<std::uint8_t>(exponent, 31)) / 1000;
}

std::uint8_t timeout_exponent(std::int64_t microseconds) {
  std::uint8_t exponent = 1;
  while (exponent < 31 && timeout_microseconds(exponent) < microseconds) {
    ++exponent;
  }
  return exponent;
}

}  // namespace steertag::fabric::roce
