// Reads TCP headers; options are skipped.
#include "capture/iwarp/tcp_segment.h"

#include <algorithm>

#include "rdma/octets.h"

namespace steertag::capture::iwarp {
namespace {

constexpr std::size_t kLeastHeaderBytes = 20;
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kRst = 0x04;
constexpr std::uint8_t kAck = 0x10;

}  // namespace

std::optional<TcpSegment> parse_tcp(const Datagram& datagram) {
  const View octets = datagram.payload;
  if (datagram.protocol != kProtocolTcp || octets.size() < kLeastHeaderBytes) return std::nullopt;
  const std::byte* header = octets.data();
  const std::size_t header_bytes = std::size_t{rdma::load8(header + 12)} >> 4 << 2;
  const std::size_t length = std::max(datagram.length, octets.size());
  if (header_bytes < kLeastHeaderBytes || header_bytes > length) return std::nullopt;
  TcpSegment segment;
  segment.source_port = rdma::load16(header);
  segment.destination_port = rdma::load16(header + 2);
  segment.sequence = rdma::load32(header + 4);
  segment.acknowledgment = rdma::load32(header + 8);
  const std::uint8_t flags = rdma::load8(header + 13);
  segment.fin = (flags & kFin) != 0;
  segment.syn = (flags & kSyn) != 0;
  segment.rst = (flags & kRst) != 0;
  segment.ack = (flags & kAck) != 0;
  segment.octets = octets.subspan(std::min(header_bytes, octets.size()));
  segment.missing = length - header_bytes - segment.octets.size();
  return segment;
}

}  // namespace steertag::capture::iwarp
