// Lays out TCP headers (RFC 9293).
#include "trace/tcp_packet.h"

namespace steertag::trace {
namespace {

constexpr std::uint16_t kWindow = 65535;
constexpr std::uint8_t kWindowScale = 14;  // RFC 7323: the largest shift

void put_syn_options(PacketLayout& layout) {
  layout.put8(2);  // maximum segment size
  layout.put8(4);
  layout.put16(static_cast<std::uint16_t>(kMaxSegmentBytes));
  layout.put8(1);  // no operation
  layout.put8(3);  // window scale
  layout.put8(3);
  layout.put8(kWindowScale);
}

}  // namespace

void build_tcp_packet(const Endpoint& from, const Endpoint& to, const TcpSegment& segment,
                      Bytes& packet) {
  packet.clear();
  PacketLayout layout(packet);
  const bool syn = (segment.flags & kSyn) != 0;
  const std::size_t header = syn ? 28 : 20;
  put_ip_header(layout, from, to, IpProtocol::tcp, header + segment.payload.size());

  const std::size_t tcp = packet.size();
  layout.put16(from.port);
  layout.put16(to.port);
  layout.put32(segment.sequence);
  layout.put32(segment.acknowledgment);
  layout.put8(static_cast<std::uint8_t>(header / 4 << 4));
  layout.put8(segment.flags);
  layout.put16(kWindow);
  layout.put32(0);  // checksum, urgent pointer
  if (syn) put_syn_options(layout);
  layout.put(segment.payload);
  layout.set16(tcp + 16, segment_checksum(from, to, IpProtocol::tcp, layout.from(tcp)));
}

}  // namespace steertag::trace
