// Which packets join a run: of one destination and size, within the limits of Linux.
#include "fabric/roce/network/segment_run.h"

#include <gtest/gtest.h>

#include <vector>

#include "fabric/roce/packets/gid.h"
#include "fabric/testing/ipv6_roce.h"

namespace steertag::fabric::roce {
namespace {

using Places = std::vector<std::uint16_t>;

const Address kDestination = ipv4_address(0x7f000002, 4791);
const Address kOtherDestination = ipv4_address(0x7f000003, 4791);

Places places(std::initializer_list<std::size_t> sizes) {
  SegmentRun run;
  Places all;
  for (const std::size_t size : sizes) {
    all.push_back(run.add(kDestination, size));
  }
  return all;
}

TEST(SegmentRun, HasPacketsOfOneSize) {
  EXPECT_EQ(places({4112, 4112, 4112}), (Places{0, 1, 2}));
}

TEST(SegmentRun, AShorterPacketIsItsLast) {
  EXPECT_EQ(places({100, 100, 20, 20, 20}), (Places{0, 1, 2, 0, 1}));
}

TEST(SegmentRun, ALongerPacketStartsAnother) {
  EXPECT_EQ(places({20, 100, 100}), (Places{0, 0, 1}));
}

TEST(SegmentRun, HasOneDestination) {
  SegmentRun run;
  EXPECT_EQ(run.add(kDestination, 100), 0);
  EXPECT_EQ(run.add(kOtherDestination, 100), 0);
  EXPECT_EQ(run.add(with_port(kOtherDestination, 4792), 100), 0) << "another port";
  EXPECT_EQ(run.add(with_port(kOtherDestination, 4792), 100), 1);
}

TEST(SegmentRun, HasOneInterface) {
  const Address here = testing::numeric("fe80::1%1", 4791);
  const Address elsewhere = testing::numeric("fe80::1%2", 4791);
  SegmentRun run;
  EXPECT_EQ(run.add(here, 100), 0);
  EXPECT_EQ(run.add(here, 100), 1);
  EXPECT_EQ(run.add(elsewhere, 100), 0);
}

TEST(SegmentRun, HasAtMost64Packets) {
  SegmentRun run;
  for (std::uint16_t place = 0; place < 64; ++place) {
    ASSERT_EQ(run.add(kDestination, 20), place);
  }
  EXPECT_EQ(run.add(kDestination, 20), 0);
}

TEST(SegmentRun, HasAtMost65507Octets) {
  EXPECT_EQ(places({32000, 32000, 1507}), (Places{0, 1, 2}));
  EXPECT_EQ(places({32000, 32000, 1508}), (Places{0, 1, 0}));
}

TEST(SegmentRun, NothingJoinsOneThatWasEnded) {
  SegmentRun run;
  EXPECT_EQ(run.add(kDestination, 100), 0);
  run.end();
  EXPECT_EQ(run.add(kDestination, 100), 0);
  EXPECT_EQ(run.add(kDestination, 100), 1);
}

TEST(SegmentRun, ItsPacketsAreKnownByTheirPlaces) {
  std::vector<Outbound> packets(6);
  const Places identifications = {0, 1, 2, 0, 0, 1};
  for (std::size_t i = 0; i < packets.size(); ++i) {
    packets[i].identification = identifications[i];
  }
  EXPECT_EQ(leading_run(packets), 3U);
  EXPECT_EQ(leading_run(std::span(packets).subspan(3)), 1U);
  EXPECT_EQ(leading_run(std::span(packets).subspan(4)), 2U);
}

}  // namespace
}  // namespace steertag::fabric::roce
