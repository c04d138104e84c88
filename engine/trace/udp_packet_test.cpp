// Checks packet layout and checksums, by summing as a receiver does.
#include "trace/udp_packet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trace/testing.h"

namespace steertag::trace {
namespace {

constexpr std::size_t kUdpAt = 20;  // behind IPv4

TEST(UdpPacket, Ipv4HeadersByHand) {
  Bytes packet;
  const Bytes payload(5, std::byte{0xab});
  build_udp_packet(endpoint("192.0.2.1", 51000), endpoint("198.51.100.2", 4791), {payload, 0x1234},
                   packet);
  ASSERT_EQ(packet.size(), 33u);
  EXPECT_EQ(packet[0], std::byte{0x45});
  EXPECT_EQ(read16(packet, 2), 33u);
  EXPECT_EQ(read16(packet, 4), 0x1234u) << "identification, which the invariant CRC covers";
  EXPECT_EQ(read16(packet, 6), 0x4000u) << "do not fragment";
  EXPECT_EQ(packet[9], std::byte{17});
  EXPECT_EQ(folded_sum(Bytes(packet.begin(), packet.begin() + 20)), 0xffffu);
  EXPECT_EQ(read16(packet, kUdpAt), 51000u);
  EXPECT_EQ(read16(packet, kUdpAt + 2), 4791u);
  EXPECT_EQ(read16(packet, kUdpAt + 4), 13u) << "length of header and payload";
}

TEST(UdpPacket, ZeroSumIsSentAsOnes) {
  Bytes payload(2);
  Bytes packet;
  const Endpoint from = endpoint("192.0.2.1", 51000);
  const Endpoint to = endpoint("192.0.2.2", 4791);
  build_udp_packet(from, to, {payload}, packet);
  const std::uint32_t sum = read16(packet, kUdpAt + 6);  // added to the words, it gives ones
  payload = {std::byte(sum >> 8), std::byte(sum & 0xff)};
  build_udp_packet(from, to, {payload}, packet);
  EXPECT_EQ(read16(packet, kUdpAt + 6), 0xffffu) << "0 would say that there is no checksum";
}

RC_GTEST_PROP(UdpPacket, ChecksumsHoldForAnyDatagram,
              (const std::vector<std::uint8_t>& text, std::uint16_t port, bool ipv4)) {
  const View payload = std::as_bytes(std::span(text));
  Bytes packet;
  build_udp_packet(endpoint(ipv4 ? "192.0.2.1" : "2001:db8::1", port),
                   endpoint(ipv4 ? "192.0.2.2" : "2001:db8::2", 4791), {payload}, packet);
  const Bytes covered = ipv4 ? checksummed(IpProtocol::udp, packet, 12, 8, 20)
                             : checksummed(IpProtocol::udp, packet, 8, 32, 40);
  RC_ASSERT(folded_sum(covered) == 0xffffu);
  RC_ASSERT(std::equal(payload.rbegin(), payload.rend(), packet.rbegin()));
}

}  // namespace
}  // namespace steertag::trace
