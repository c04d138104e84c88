// Checks packet layout and checksums, by summing as a receiver does.
#include "trace/tcp_packet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trace/testing.h"

namespace steertag::trace {
namespace {

TEST(TcpPacket, Ipv4HeaderByHand) {
  Bytes packet;
  build_tcp_packet(endpoint("192.0.2.1", 50000), endpoint("198.51.100.2", 20049),
                   {1, 2, kAck | kPsh, {}}, packet);
  ASSERT_EQ(packet.size(), 40u);
  const Bytes head(packet.begin(), packet.begin() + 20);
  EXPECT_EQ(packet[0], std::byte{0x45});
  EXPECT_EQ(read16(packet, 2), 40u);
  EXPECT_EQ(packet[9], std::byte{6});
  EXPECT_EQ(read16(packet, 12), 0xc000u);
  EXPECT_EQ(read16(packet, 16), 0xc633u);
  EXPECT_EQ(folded_sum(head), 0xffffu) << "IPv4 header checksum";
  EXPECT_EQ(read16(packet, 20), 50000u);
  EXPECT_EQ(read16(packet, 22), 20049u);
  EXPECT_EQ(packet[33], std::byte{0x18});
}

TEST(TcpPacket, SynCarriesSegmentSizeAndWindowScale) {
  Bytes packet;
  build_tcp_packet(endpoint("192.0.2.1", 50000), endpoint("192.0.2.2", 20049), {1, 0, kSyn, {}},
                   packet);
  ASSERT_EQ(packet.size(), 48u);
  EXPECT_EQ(packet[32], std::byte{0x70}) << "data offset of seven words";
  EXPECT_EQ(read16(packet, 42), kMaxSegmentBytes);
}

TEST(TcpPacket, OneIpv6AddressMakesAnIpv6Packet) {
  Bytes packet;
  build_tcp_packet(endpoint("2001:db8::1", 1), endpoint("192.0.2.2", 2), {1, 2, kAck, {}}, packet);
  ASSERT_EQ(packet.size(), 60u);
  EXPECT_EQ(packet[0], std::byte{0x60});
  EXPECT_EQ(read16(packet, 4), 20u);
  EXPECT_EQ(read16(packet, 34), 0xffffu) << "IPv4-mapped destination";
}

TEST(TcpPacket, LongestPayloadFitsIpv4) {
  const Bytes payload(kMaxSegmentBytes, std::byte{0xff});
  Bytes packet;
  build_tcp_packet(endpoint("192.0.2.1", 1), endpoint("192.0.2.2", 2), {1, 2, kAck, payload},
                   packet);
  EXPECT_EQ(read16(packet, 2), packet.size());
  EXPECT_EQ(folded_sum(checksummed(IpProtocol::tcp, packet, 12, 8, 20)), 0xffffu);
}

TEST(TcpPacket, RejectsWhatIsNoNumericAddress) {
  for (const char* text : {"", "localhost", "192.0.2", "192.0.2.1.5", "2001:db8::g", "[::1]"})
    EXPECT_FALSE(parse_endpoint(text, 1)) << '"' << text << '"';
}

RC_GTEST_PROP(TcpPacket, ChecksumsHoldForAnySegment,
              (std::uint32_t sequence, std::uint32_t ack, std::uint8_t flags,
               const std::vector<std::uint8_t>& text, bool ipv4)) {
  const Bytes payload(reinterpret_cast<const std::byte*>(text.data()),
                      reinterpret_cast<const std::byte*>(text.data()) + text.size());
  Bytes packet;
  build_tcp_packet(endpoint(ipv4 ? "192.0.2.1" : "2001:db8::1", 50000),
                   endpoint(ipv4 ? "192.0.2.2" : "2001:db8::2", 20049),
                   {sequence, ack, flags, payload}, packet);
  const Bytes covered = ipv4 ? checksummed(IpProtocol::tcp, packet, 12, 8, 20)
                             : checksummed(IpProtocol::tcp, packet, 8, 32, 40);
  RC_ASSERT(folded_sum(covered) == 0xffffu);
  RC_ASSERT(std::equal(payload.rbegin(), payload.rend(), packet.rbegin()));
}

}  // namespace
}  // namespace steertag::trace
