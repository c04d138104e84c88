// The invariant CRC of each packet that Linux sent, in the captures of its soft RoCE device.
#include "rdma/infiniband/invariant_crc.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "capture/file/capture_file.h"
#include "rdma/octets.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kUdpBytes = 8;

ib::Ipv4Route route_of(const std::byte* ip) {
  ib::Ipv4Route route;
  std::copy_n(ip + 12, 4, route.source.begin());
  std::copy_n(ip + 16, 4, route.destination.begin());
  route.source_port = rdma::load16(ip + kIpv4Bytes);
  route.destination_port = rdma::load16(ip + kIpv4Bytes + 2);
  route.dont_fragment = (rdma::load16(ip + 6) & 0x4000) != 0;
  return route;
}

/// The number of packets of RoCEv2, after each of them was checked.
std::size_t checked_packets(const std::string& name) {
  const std::string path = std::string(STEERTAG_CAPTURES) + "/" + name;
  auto file = CaptureFile::open(path);
  if (!file) {
    ADD_FAILURE() << path << " is no capture";
    return 0;
  }
  std::size_t count = 0;
  for (auto packet = file->next(); packet && *packet; packet = file->next()) {
    const View octets = (*packet)->octets;
    if (octets.size() < kEthernetBytes + kIpv4Bytes + kUdpBytes) continue;
    const std::byte* ip = octets.data() + kEthernetBytes;
    if (rdma::load16(ip - 2) != 0x0800 || rdma::load8(ip) != 0x45 || rdma::load8(ip + 9) != 17 ||
        rdma::load16(ip + kIpv4Bytes + 2) != ib::kRoceUdpPort) {
      continue;
    }
    const View udp = octets.subspan(kEthernetBytes + kIpv4Bytes, rdma::load16(ip + kIpv4Bytes + 4));
    EXPECT_TRUE(ib::InvariantCrc(route_of(ip)).check(udp.subspan(kUdpBytes), rdma::load16(ip + 4)))
        << name << ": frame " << (*packet)->stamp.frame;
    ++count;
  }
  return count;
}

TEST(InvariantCrcOfCaptures, EachPacketOfLinux) {
  EXPECT_EQ(checked_packets("linux-6.1-rxe-v3.pcapng"), 309u);
  EXPECT_EQ(checked_packets("linux-6.1-rxe-v4.1.pcapng"), 505u);
}

}  // namespace
}  // namespace steertag::capture::infiniband
