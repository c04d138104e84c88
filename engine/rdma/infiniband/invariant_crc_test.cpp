// The invariant CRC against a bitwise computation over headers written by hand.
#include "rdma/infiniband/invariant_crc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::rdma::infiniband {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

std::uint32_t bitwise_crc(View octets) {
  std::uint32_t state = 0xffffffff;
  for (const std::byte octet : octets) {
    state ^= load8(&octet);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ ((state & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~state;
}

template <std::size_t size>
std::array<std::byte, size> address(const char* hex) {
  const Bytes octets = from_hex(hex);
  std::array<std::byte, size> result{};
  std::copy_n(octets.begin(), size, result.begin());
  return result;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// SEND Only with 5 octets of payload and 3 of pad. The base header's octet 4 is BECN.
const char* const kPacket = "0470ffff 40000011 80000007 0102030405 000000";
const char* const kMaskedPacket = "0470ffff ff000011 80000007 0102030405 000000";

Ipv4Route ipv4_route() {
  return {address<4>("c0000201"), address<4>("c0000202"), 0xc123, kRoceUdpPort, true};
}
Ipv6Route ipv6_route() {
  return {address<16>("20010db8 00000000 00000000 00000001"),
          address<16>("20010db8 00000000 00000000 00000002"), 0xc123, kRoceUdpPort};
}

TEST(InvariantCrc, ThatOfIpv4CoversAllThatRoutersKeep) {
  const Bytes packet = from_hex(kPacket);
  const Bytes covered = joined({from_hex("ffffffff ffffffff"),
                                from_hex("45ff0034 abcd4000 ff11ffff c0000201 c0000202"),
                                from_hex("c12312b7 0020ffff"), from_hex(kMaskedPacket)});
  EXPECT_EQ(InvariantCrc(ipv4_route()).of(packet, 0xabcd), bitwise_crc(covered));
}

TEST(InvariantCrc, DontFragmentIsCovered) {
  const Bytes packet = from_hex(kPacket);
  const Bytes covered = joined({from_hex("ffffffff ffffffff"),
                                from_hex("45ff0034 00000000 ff11ffff c0000201 c0000202"),
                                from_hex("c12312b7 0020ffff"), from_hex(kMaskedPacket)});
  Ipv4Route route = ipv4_route();
  route.dont_fragment = false;
  EXPECT_EQ(InvariantCrc(route).of(packet), bitwise_crc(covered));
}

TEST(InvariantCrc, ThatOfIpv6HasNeitherClassNorLabelNorHops) {
  const Bytes packet = from_hex(kPacket);
  const Bytes covered = joined({from_hex("ffffffff ffffffff"), from_hex("6fffffff 002011ff"),
                                from_hex("20010db8 00000000 00000000 00000001"),
                                from_hex("20010db8 00000000 00000000 00000002"),
                                from_hex("c12312b7 0020ffff"), from_hex(kMaskedPacket)});
  const InvariantCrc crc(ipv6_route());
  EXPECT_EQ(crc.of(packet), bitwise_crc(covered));
  EXPECT_EQ(crc.of(packet, 1), crc.of(packet)) << "IPv6 has no identification";
}

TEST(InvariantCrc, PiecesGiveTheSameAsTheWhole) {
  const Bytes packet = from_hex(kPacket);
  for (const InvariantCrc& crc : {InvariantCrc(ipv4_route()), InvariantCrc(ipv6_route())}) {
    for (std::size_t first = kBaseBytes; first <= packet.size(); ++first) {
      for (std::size_t second = first; second <= packet.size(); ++second) {
        const View pieces[] = {View(packet).first(first),
                               View(packet).subspan(first, second - first),
                               View(packet).subspan(second)};
        EXPECT_EQ(crc.of(pieces), crc.of(packet)) << "cut at " << first << " and " << second;
      }
    }
  }
}

TEST(InvariantCrc, APacketEndsWithItLeastSignificantOctetFirst) {
  Bytes packet = from_hex(kPacket);
  const InvariantCrc crc(ipv4_route());
  const std::uint32_t value = crc.of(packet, 7);
  packet.resize(packet.size() + kInvariantCrcBytes);
  std::byte* end = packet.data() + packet.size() - kInvariantCrcBytes;
  InvariantCrc::store(value, end);
  EXPECT_EQ(load8(end), value & 0xff);
  EXPECT_EQ(InvariantCrc::load(end), value);
  EXPECT_TRUE(crc.check(packet, 7));
  EXPECT_FALSE(crc.check(packet, 8)) << "the identification is covered";
  packet[4] = std::byte{0x80};
  EXPECT_TRUE(crc.check(packet, 7)) << "a switch may set FECN";
  for (std::size_t i = 0; i < packet.size(); ++i) {
    if (i == 4) continue;
    packet[i] ^= std::byte{1};
    EXPECT_FALSE(crc.check(packet, 7)) << "octet " << i << " changed";
    packet[i] ^= std::byte{1};
  }
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_FALSE(crc.check(View(packet).first(size), 7)) << "cut to " << size;
  }
}

TEST(InvariantCrc, TheIdentificationFollowsFromIt) {
  Bytes packet = from_hex(kPacket);
  packet.resize(packet.size() + kInvariantCrcBytes);
  const View covered = View(packet).first(packet.size() - kInvariantCrcBytes);
  std::byte* end = packet.data() + covered.size();
  const InvariantCrc crc(ipv4_route());
  const std::vector<std::uint16_t> identifications = {0, 1, 0x100, 0x8fee, 0xffff};
  for (const std::uint16_t identification : identifications) {
    InvariantCrc::store(crc.of(covered, identification), end);
    EXPECT_EQ(crc.identification_of(packet), identification);
    for (const std::uint16_t likely : identifications) {
      EXPECT_EQ(crc.identification_of(packet, likely), identification) << likely << " was likely";
    }
  }
  EXPECT_EQ(crc.identification_of(View(packet).first(15)), std::nullopt);
  packet[3] ^= std::byte{1};
  EXPECT_EQ(crc.identification_of(packet), std::nullopt) << "the partition key changed";
  EXPECT_EQ(crc.identification_of(packet, 7), std::nullopt) << "the partition key changed";

  const InvariantCrc wide(ipv6_route());
  InvariantCrc::store(wide.of(covered), end);
  EXPECT_EQ(wide.identification_of(packet), 0);
  EXPECT_EQ(wide.identification_of(packet, 7), 0) << "IPv6 has none";
  InvariantCrc::store(wide.of(covered) ^ 1, end);
  EXPECT_EQ(wide.identification_of(packet), std::nullopt);
}

}  // namespace
}  // namespace steertag::rdma::infiniband
