// Checks packet layout and checksums, by summing as a receiver does.
#include "trace/tcp_packet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace steertag::trace {
namespace {

std::uint32_t read16(View octets, std::size_t at) {
  return std::to_integer<std::uint32_t>(octets[at]) << 8 |
         std::to_integer<std::uint32_t>(octets[at + 1]);
}

/// RFC 1071: the folded ones-complement sum of data with a right checksum is 0xffff.
std::uint32_t folded_sum(Bytes octets) {
  if (octets.size() % 2 != 0) octets.push_back(std::byte{0});
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    sum += read16(octets, i);
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

/// What the TCP checksum covers: pseudo-header (addresses, length, protocol) and segment.
Bytes checksummed(View packet, std::size_t addresses_at, std::size_t addresses_length,
                  std::size_t tcp_at) {
  const View addresses = packet.subspan(addresses_at, addresses_length);
  const View segment = packet.subspan(tcp_at);
  Bytes all(addresses.begin(), addresses.end());
  all.push_back(std::byte(segment.size() >> 8));
  all.push_back(std::byte(segment.size() & 0xff));
  all.push_back(std::byte{0});
  all.push_back(std::byte{6});
  all.insert(all.end(), segment.begin(), segment.end());
  return all;
}

Endpoint endpoint(std::string_view address, std::uint16_t port) {
  const auto parsed = parse_endpoint(address, port);
  EXPECT_TRUE(parsed) << address;
  return parsed.value_or(Endpoint{});
}

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
  EXPECT_EQ(folded_sum(checksummed(packet, 12, 8, 20)), 0xffffu);
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
  const Bytes covered = ipv4 ? checksummed(packet, 12, 8, 20) : checksummed(packet, 8, 32, 40);
  RC_ASSERT(folded_sum(covered) == 0xffffu);
  RC_ASSERT(std::equal(payload.rbegin(), payload.rend(), packet.rbegin()));
}

}  // namespace
}  // namespace steertag::trace
