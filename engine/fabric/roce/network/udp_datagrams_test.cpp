// Runs of datagrams over sockets of this machine.
#include "fabric/roce/network/udp_datagrams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "fabric/roce/network/segment_run.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::roce {
namespace {

using testing::pattern;

constexpr std::uint16_t kUdpPort = 4791;

class UdpDatagramsTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Datagrams> open() {
    const auto at = resolve({"roce", testing::roce_factory().another_host(), kUdpPort, ""}, false);
    auto opened = UdpDatagrams::open(at->front(), 1 << 20);
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? std::move(*opened) : nullptr;
  }
  void SetUp() override {
    ASSERT_TRUE(ours && theirs);
    if (!ours->groups()) {
      GTEST_SKIP() << "this kernel has no UDP_SEGMENT";
    }
  }

  /// Queues datagrams of these sizes, in runs.
  void queue(std::initializer_list<std::size_t> sizes) {
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
  /// Receives as many as are queued.
  void expect_all() {
    const int patience = static_cast<int>(std::chrono::milliseconds(testing::kPatience).count());
    std::size_t count = 0;
    while (count < octets.size()) {
      pollfd ready{theirs->descriptor(), POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, patience), 1) << "datagram " << count << " did not come";
      for (const Inbound& datagram : theirs->receive()) {
        ASSERT_LT(count, octets.size()) << "more came than was sent";
        EXPECT_EQ(gid_of(*datagram.from), gid_of(ours->local()));
        EXPECT_TRUE(std::ranges::equal(datagram.octets, octets[count])) << "datagram " << count;
        EXPECT_EQ(datagram.identification, places[count]) << "datagram " << count;
        ++count;
      }
    }
    EXPECT_TRUE(theirs->receive().empty()) << "more came than was sent";
  }

  std::unique_ptr<Datagrams> ours = open();
  std::unique_ptr<Datagrams> theirs = open();
  std::vector<Bytes> octets;
  std::vector<std::uint16_t> places;
};

TEST_F(UdpDatagramsTest, RunsArriveAsTheirDatagrams) {
  queue({4128, 4112, 4112, 4112, 60, 20, 20});
  EXPECT_EQ(send(), octets.size());
  expect_all();
}

TEST_F(UdpDatagramsTest, TheLongestRunsArrive) {
  octets.assign(SegmentRun::kMostSegments, pattern(20));
  for (std::uint16_t i = 0; i < SegmentRun::kMostSegments; ++i) places.push_back(i);
  EXPECT_EQ(send(), octets.size());
  expect_all();
}

TEST_F(UdpDatagramsTest, ARefusedRunIsNotTaken) {
  // Without a checksum of UDP the system cannot segment: EIO.
  const int on = 1;
  ASSERT_EQ(::setsockopt(ours->descriptor(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  queue({20, 100, 100, 100});
  EXPECT_EQ(send(), 1U) << "what is before the run has left";
  EXPECT_FALSE(ours->groups());
  places.assign(octets.size(), 0);
  EXPECT_EQ(send(), octets.size());
  octets.insert(octets.begin(), octets.front());
  places.push_back(0);
  expect_all();
}

TEST_F(UdpDatagramsTest, ADatagramThatIsNoPacketIsDropped) {
  queue({kMostDatagramBytes + 1});
  EXPECT_EQ(send(), 1U);
  octets.clear();
  places.clear();
  queue({kMostDatagramBytes});
  EXPECT_EQ(send(), 1U);
  expect_all();
}

TEST_F(UdpDatagramsTest, TheReceiveBufferIsThatOfTheSocket) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  ASSERT_EQ(::getsockopt(ours->descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &length), 0);
  EXPECT_EQ(ours->receive_buffer(), static_cast<std::size_t>(bytes));
}

}  // namespace
}  // namespace steertag::fabric::roce
