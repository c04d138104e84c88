// Lays out UDP headers (RFC 768).
#include "trace/udp_packet.h"

namespace steertag::trace {
namespace {

constexpr std::size_t kUdpHeaderBytes = 8;
// A sum of 0 is sent as its other form: 0 says that there is none.
constexpr std::uint16_t kZeroSum = 0xffff;

}  // namespace

void build_udp_packet(const Endpoint& from, const Endpoint& to, const UdpDatagram& datagram,
                      Bytes& packet) {
  packet.clear();
  PacketLayout layout(packet);
  const std::size_t length = kUdpHeaderBytes + datagram.payload.size();
  put_ip_header(layout, from, to, IpProtocol::udp, length, datagram.identification);
  const std::size_t udp = packet.size();
  layout.put16(from.port);
  layout.put16(to.port);
  layout.put16(static_cast<std::uint16_t>(length));
  layout.put16(0);  // checksum
  layout.put(datagram.payload);
  const std::uint16_t sum = segment_checksum(from, to, IpProtocol::udp, layout.from(udp));
  layout.set16(udp + 6, sum == 0 ? kZeroSum : sum);
}

}  // namespace steertag::trace
