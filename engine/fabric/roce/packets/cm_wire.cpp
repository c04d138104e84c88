// A message and the header of its datagram.
#include "fabric/roce/packets/cm_wire.h"

#include <algorithm>

namespace steertag::fabric::roce {

MadOctets encode_mad(const Mad& mad) {
  MadOctets octets{};
  wire::MadHeader header;
  header.transaction = mad.transaction;
  header.attribute = static_cast<std::uint16_t>(mad.message.kind);
  wire::encode(header, octets.data());
  wire::encode(mad.message, octets.data() + wire::kMadHeaderBytes);
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
  const auto message = wire::decode_cm(header.attribute, octets.subspan(wire::kMadHeaderBytes));
  if (!message) {
    return std::nullopt;
  }
  return Mad{header.transaction, *message};
}

std::chrono::microseconds time_of(std::uint8_t exponent) {
  constexpr std::chrono::nanoseconds kUnit{4096};
  return std::chrono::duration_cast<std::chrono::microseconds>(
      kUnit * (std::int64_t{1} << std::min<std::uint8_t>(exponent, 31)));
}

std::uint8_t exponent_of(std::chrono::microseconds time) {
  std::uint8_t exponent = 1;
  while (exponent < 31 && time_of(exponent) < time) {
    ++exponent;
  }
  return exponent;
}

}  // namespace steertag::fabric::roce
