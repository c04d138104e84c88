// Wrong invariant CRCs of captured packets, and packets that do not show theirs.
#include "capture/infiniband/crc_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "capture/infiniband/transport_packet.h"
#include "capture/link/link_layers.h"
#include "rdma/infiniband/packet.h"
#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;
using wire::testing::from_hex;

constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
constexpr std::uint16_t kIdentification = 0x8feb;

Bytes sealed(const ib::InvariantCrc& crc) {
  ib::PacketHeaders headers;
  headers.base.opcode = ib::Opcode::send_only;
  headers.base.queue_pair = 0x11;
  const Bytes payload = from_hex("0102030405");
  const Bytes packet = ib::whole_packet(headers, payload, crc, kIdentification);
  Bytes octets(8);
  rdma::store16(octets.data(), ib::kRoceUdpPort);
  rdma::store16(octets.data() + 2, ib::kRoceUdpPort);
  octets.insert(octets.end(), packet.begin(), packet.end());
  rdma::store16(octets.data() + 4, static_cast<std::uint16_t>(octets.size()));
  return octets;
}

Bytes over_ipv4() {
  Bytes ip = from_hex("45020000 8feb4000 3f110000 c0000201 c0000202");
  ib::Ipv4Route route;
  std::copy_n(ip.begin() + 12, 4, route.source.begin());
  std::copy_n(ip.begin() + 16, 4, route.destination.begin());
  const Bytes udp = sealed(ib::InvariantCrc(route));
  ip.insert(ip.end(), udp.begin(), udp.end());
  rdma::store16(ip.data() + 2, static_cast<std::uint16_t>(ip.size()));
  return ip;
}

Bytes over_ipv6() {
  Bytes ip = from_hex("60212345 00001140");
  ip.resize(kIpv6Bytes);
  ib::Ipv6Route route;
  route.source.fill(std::byte{0xaa});
  route.destination.fill(std::byte{0xbb});
  std::ranges::copy(route.source, ip.begin() + 8);
  std::ranges::copy(route.destination, ip.begin() + 24);
  const Bytes udp = sealed(ib::InvariantCrc(route));
  ip.insert(ip.end(), udp.begin(), udp.end());
  rdma::store16(ip.data() + 4, static_cast<std::uint16_t>(udp.size()));
  return ip;
}

/// Whether the reader finds a packet of RoCEv2, and finds its CRC wrong.
bool is_wrong(const Bytes& ip, std::size_t captured = SIZE_MAX) {
  LinkLayers layers;
  const View octets = View(ip).first(std::min(ip.size(), captured));
  const LinkFrame frame = layers.read({{1, 1}, LinkType::raw_ip, octets, ip.size()});
  const auto* datagram = std::get_if<Datagram>(&frame);
  EXPECT_NE(datagram, nullptr);
  if (datagram == nullptr) return false;
  const auto packet = transport_packet(*datagram);
  EXPECT_TRUE(packet);
  return packet && packet->crc_wrong;
}

TEST(CrcCheck, RightUntilAnOctetChanges) {
  for (Bytes ip : {over_ipv4(), over_ipv6()}) {
    EXPECT_FALSE(is_wrong(ip));
    for (const std::size_t behind : {std::size_t{1}, std::size_t{5}, std::size_t{9}}) {
      std::byte& octet = ip[ip.size() - behind];
      octet ^= std::byte{1};
      EXPECT_TRUE(is_wrong(ip)) << "octet " << behind << " from the end";
      octet ^= std::byte{1};
    }
  }
}

TEST(CrcCheck, RoutersMayChangeTheirFields) {
  Bytes four = over_ipv4();
  four[1] = std::byte{0x03};
  four[8] = std::byte{0x01};
  EXPECT_FALSE(is_wrong(four));
  four[5] ^= std::byte{1};
  EXPECT_TRUE(is_wrong(four)) << "the identification is covered";
  Bytes six = over_ipv6();
  six[3] ^= std::byte{1};
  six[7] = std::byte{1};
  EXPECT_FALSE(is_wrong(six));
  six[8] ^= std::byte{1};
  EXPECT_TRUE(is_wrong(six)) << "a translated address";
}

TEST(CrcCheck, ACutPacketShowsNone) {
  Bytes ip = over_ipv4();
  ip.back() ^= std::byte{1};
  EXPECT_TRUE(is_wrong(ip));
  EXPECT_FALSE(is_wrong(ip, ip.size() - 1));
}

TEST(CrcCheck, APacketWithOptionsShowsNone) {
  Bytes ip = over_ipv4();
  ip.back() ^= std::byte{1};
  ip.insert(ip.begin() + kIpv4Bytes, 4, std::byte{1});
  ip[0] = std::byte{0x46};
  rdma::store16(ip.data() + 2, static_cast<std::uint16_t>(ip.size()));
  EXPECT_FALSE(is_wrong(ip));
}

TEST(CrcCheck, APacketToBeSegmentedShowsNone) {
  Bytes ip = over_ipv4();
  ip.back() ^= std::byte{1};
  rdma::store16(ip.data() + 2, 0);
  EXPECT_FALSE(is_wrong(ip));
}

}  // namespace
}  // namespace steertag::capture::infiniband
