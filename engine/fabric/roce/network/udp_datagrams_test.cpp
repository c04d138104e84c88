// Runs of datagrams over sockets of this machine.
#include "fabric/roce/network/udp_datagrams.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "fabric/roce/network/segment_run.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/ipv6_roce.h"

namespace steertag::fabric::roce {
namespace {

using testing::pattern;

constexpr std::uint16_t kUdpPort = 4791;

/// Over IPv4 or IPv6, by the family of addresses.
class UdpDatagramsTest : public ::testing::TestWithParam<int> {
 protected:
  static bool six() { return GetParam() == AF_INET6; }
  /// Another address of 127/8, or another port of ::1.
  static Address another_address() {
    return six() ? testing::numeric("::1")
                 : testing::numeric(testing::roce_factory().another_host(), kUdpPort);
  }
  static std::unique_ptr<Datagrams> open() {
    auto opened = UdpDatagrams::open(another_address(), 1 << 20);
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? std::move(*opened) : nullptr;
  }
  void SetUp() override {
    if (six() && !testing::machine_has_ipv6()) {
      GTEST_SKIP() << "this machine has no ::1, so nothing runs over IPv6";
    }
    ours = open();
    theirs = open();
    ASSERT_TRUE(ours && theirs);
    if (!ours->groups()) {
      GTEST_SKIP() << "this kernel has no UDP_SEGMENT";
    }
  }

  /// Queues datagrams of these sizes, in runs.
  void queue(const std::vector<std::size_t>& sizes) {
    SegmentRun run;
    for (const std::size_t size : sizes) {
      octets.push_back(pattern(size, static_cast<std::uint8_t>(octets.size())));
      places.push_back(run.add(theirs->local(), size));
    }
  }
  std::size_t send() {
    std::vector<Outbound> packets;
    for (std::size_t i = 0; i < octets.size(); ++i) {
      packets.push_back({octets[i], &theirs->local(), places[i]});
    }
    return ours->send(packets);
  }
  /// Receives as many as are queued, with their places in runs that come as they left.
  void expect_all(bool whole_runs = true) {
    const int patience = static_cast<int>(std::chrono::milliseconds(testing::kPatience).count());
    std::size_t count = 0;
    while (count < octets.size()) {
      pollfd ready{theirs->descriptor(), POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, patience), 1) << "datagram " << count << " did not come";
      for (const Inbound& datagram : theirs->receive()) {
        ASSERT_LT(count, octets.size()) << "more came than was sent";
        EXPECT_EQ(datagram.from->text(), ours->local().text());
        EXPECT_TRUE(std::ranges::equal(datagram.octets, octets[count])) << "datagram " << count;
        if (whole_runs) {
          EXPECT_EQ(datagram.identification, places[count]) << "datagram " << count;
        }
        ++count;
      }
    }
    EXPECT_TRUE(theirs->receive().empty()) << "more came than was sent";
  }

  std::unique_ptr<Datagrams> ours;
  std::unique_ptr<Datagrams> theirs;
  std::vector<Bytes> octets;
  std::vector<std::uint16_t> places;
};

TEST_P(UdpDatagramsTest, RunsArriveAsTheirDatagrams) {
  queue({4128, 4112, 4112, 4112, 60, 20, 20});
  EXPECT_EQ(send(), octets.size());
  expect_all();
}

TEST_P(UdpDatagramsTest, TheLongestRunsArrive) {
  octets.assign(SegmentRun::kMostSegments, pattern(20));
  for (std::uint16_t i = 0; i < SegmentRun::kMostSegments; ++i) places.push_back(i);
  EXPECT_EQ(send(), octets.size());
  expect_all();
}

TEST_P(UdpDatagramsTest, TheLargestRunsArrive) {
  std::vector<std::size_t> sizes(15, 4128);
  sizes.push_back(SegmentRun::kMostBytes - 15 * 4128);
  queue(sizes);
  ASSERT_EQ(places.back(), 15) << "they are not one run";
  EXPECT_EQ(send(), octets.size());
  EXPECT_TRUE(ours->groups()) << "the system refuses a run of " << SegmentRun::kMostBytes;
  // With its headers it is more than the interface takes, so the system cuts it apart before.
  expect_all(false);
}

TEST_P(UdpDatagramsTest, ARefusedRunIsNotTaken) {
  // Without a checksum of UDP the system cannot segment: EIO, over IPv6 EINVAL.
  const int on = 1;
  if (six()) {
    const auto set = [&](const Datagrams& socket, int name) {
      return ::setsockopt(socket.descriptor(), IPPROTO_UDP, name, &on, sizeof on);
    };
    ASSERT_EQ(set(*ours, UDP_NO_CHECK6_TX), 0);
    ASSERT_EQ(set(*theirs, UDP_NO_CHECK6_RX), 0);
  } else {
    ASSERT_EQ(::setsockopt(ours->descriptor(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  }
  queue({20, 100, 100, 100});
  EXPECT_EQ(send(), 1U) << "what is before the run has left";
  EXPECT_FALSE(ours->groups());
  places.assign(octets.size(), 0);
  EXPECT_EQ(send(), octets.size());
  octets.insert(octets.begin(), octets.front());
  places.push_back(0);
  expect_all();
}

TEST_P(UdpDatagramsTest, ADatagramThatIsNoPacketIsDropped) {
  queue({kMostDatagramBytes + 1});
  EXPECT_EQ(send(), 1U);
  octets.clear();
  places.clear();
  queue({kMostDatagramBytes});
  EXPECT_EQ(send(), 1U);
  expect_all();
}

TEST_P(UdpDatagramsTest, TheReceiveBufferIsThatOfTheSocket) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ASSERT_EQ(::getsockopt(ours->descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length), 0);
  EXPECT_EQ(ours->receive_buffer(), static_cast<std::size_t>(bytes));
}

INSTANTIATE_TEST_SUITE_P(Families, UdpDatagramsTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& each) { return each.param == AF_INET ? "Ipv4" : "Ipv6"; });

}  // namespace
}  // namespace steertag::fabric::roce
