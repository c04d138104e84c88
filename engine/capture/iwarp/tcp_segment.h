// The TCP header of a datagram (RFC 9293 3.1) and the payload behind it.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/datagram.h"

namespace steertag::capture::iwarp {

struct TcpSegment {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  bool fin = false;
  bool syn = false;
  bool rst = false;
  bool ack = false;
  View octets;              // the captured payload
  std::size_t missing = 0;  // octets of the payload after `octets` that were not captured
};

/// Nothing if the fixed header is truncated, or the data offset does not fit the datagram.
std::optional<TcpSegment> parse_tcp(const Datagram& datagram);

}  // namespace steertag::capture::iwarp
