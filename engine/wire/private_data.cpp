// Builds, finds and combines CM private data.
#include "wire/private_data.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::wire {

namespace {

constexpr std::size_t kIdentifierBytes = 4;
constexpr std::uint8_t kRemoteInvalidationBit = 0x01;  // RFC 8797 4: bit 15 of the second word
constexpr std::uint32_t kSizeUnit = 1024;              // RFC 8797 4.2

}  // namespace

std::uint8_t encode_size(std::uint32_t bytes) {
  const std::uint32_t clamped = std::clamp(bytes, kDefaultInlineBytes, kLargestInlineBytes);
  return static_cast<std::uint8_t>(clamped / kSizeUnit - 1);
}

std::uint32_t decode_size(std::uint8_t value) {
  return (std::uint32_t{value} + 1) * kSizeUnit;
}

void encode(const PrivateDataDraft& draft, Bytes& out) {
  Writer(out).u32(draft.identifier);
  out.push_back(std::byte{draft.version});
  out.push_back(std::byte{draft.flags});
  out.push_back(std::byte{draft.send_size});
  out.push_back(std::byte{draft.receive_size});
}

void encode(const PrivateData& data, Bytes& out) {
  PrivateDataDraft draft;
  draft.flags = data.remote_invalidation ? kRemoteInvalidationBit : 0;
  draft.send_size = encode_size(data.send_bytes);
  draft.receive_size = encode_size(data.receive_bytes);
  encode(draft, out);
}

std::optional<std::size_t> find_private_data_identifier(View buffer, std::size_t from) {
  for (std::size_t at = from; at + kIdentifierBytes <= buffer.size(); ++at) {
    if (load_u32(buffer.data() + at) == kPrivateDataIdentifier) return at;
  }
  return std::nullopt;
}

std::optional<FoundPrivateData> find_private_data(View buffer) {
  for (auto at = find_private_data_identifier(buffer);
       at && *at + kPrivateDataBytes <= buffer.size();
       at = find_private_data_identifier(buffer, *at + 1)) {
    const auto octet = [&](std::size_t index) {
      return std::to_integer<std::uint8_t>(buffer[*at + index]);
    };
    // RFC 8797 5.2: an identifier without a known version is not ours. A later one may be.
    if (octet(4) != kPrivateDataVersion) continue;
    FoundPrivateData found;
    found.offset = *at;
    found.raw_flags = octet(5);
    found.data.remote_invalidation = (octet(5) & kRemoteInvalidationBit) != 0;
    found.data.send_bytes = decode_size(octet(6));
    found.data.receive_bytes = decode_size(octet(7));
    return found;
  }
  return std::nullopt;
}

Negotiated negotiate(const std::optional<PrivateData>& client,
                     const std::optional<PrivateData>& server) {
  // RFC 8797 5.1: without private data R is clear, and both thresholds are 1024 octets.
  const PrivateData from_client = client.value_or(PrivateData{});
  const PrivateData from_server = server.value_or(PrivateData{});
  Negotiated result;
  result.to_server_bytes = std::min(from_client.send_bytes, from_server.receive_bytes);
  result.to_client_bytes = std::min(from_server.send_bytes, from_client.receive_bytes);
  result.remote_invalidation = from_client.remote_invalidation && from_server.remote_invalidation;
  return result;
}

}  // namespace steertag::wire
