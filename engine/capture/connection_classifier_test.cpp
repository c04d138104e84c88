// No connection is reported before its protocol and its client are known.
#include "capture/connection_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/testing.h"
#include "wire/testing.h"

namespace steertag::capture {
namespace {

using ::testing::ElementsAre;
using wire::testing::from_hex;

const Bytes kCall = from_hex(
    "12345678 00000001 00000020 00000000 00000000 00000000 00000000"
    "12345678 00000000 00000002 000186a3 00000003 00000000");
const Bytes kCallback = from_hex(
    "00000007 00000001 00000020 00000000 00000000 00000000 00000000"
    "00000007 00000000 00000002 40000000 00000001 00000001");
const Bytes kReply = from_hex(
    "12345678 00000001 00000020 00000000 00000000 00000000 00000000"
    "12345678 00000001 00000000 00000000 00000000 00000000");
const Bytes kStrange = from_hex("00112233 44556677 8899aabb ccddeeff 00000000");

ConnectionHints hints(bool known_port = false, std::optional<Side> client = std::nullopt) {
  return {Fabric::iwarp, {"a", "b"}, client, known_port};
}
FrameStamp at(std::uint64_t frame) {
  return {frame, static_cast<std::int64_t>(frame)};
}

TEST(ConnectionClassifier, TellsAtOnceWhatAKnownPortAndARequestSay) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints(true, Side::b));
  classifier.on_event(at(3), Side::b, trace::Connect{});
  classifier.on_event(at(4), Side::a, trace::Accept{});
  classifier.on_end(at(5));
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.client, "b");
  EXPECT_THAT(all.connections[0].lines,
              ElementsAre("3 client connect without private data",
                          "4 server accept without private data", "5 end"));
}

TEST(ConnectionClassifier, KeepsWhatCameBeforeTheFirstCall) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  classifier.on_loss(at(1), Side::a, LossKind::joined);
  classifier.on_event(at(2), Side::b, trace::Send{kReply, {}});
  EXPECT_TRUE(all.connections.empty()) << "a reply may be a client's to a callback";
  classifier.on_event(at(3), Side::a, trace::Send{kCall, {}});
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.client, "a");
  EXPECT_THAT(all.connections[0].sends, ElementsAre(kReply, kCall));
  EXPECT_TRUE(classifier.is_open());
}

TEST(ConnectionClassifier, ACallbackIsTheServers) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  classifier.on_event(at(1), Side::a, trace::Send{kCallback, {}});
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.server, "a");
}

TEST(ConnectionClassifier, ForgetsWhatSpeaksSomethingElse) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints(false, Side::a));
  classifier.on_event(at(1), Side::a, trace::Send{kStrange, {}});
  EXPECT_FALSE(classifier.wanted());
  classifier.on_event(at(2), Side::a, trace::Send{kCall, {}});
  classifier.on_end(at(3));
  EXPECT_TRUE(all.connections.empty());
}

TEST(ConnectionClassifier, OnAKnownPortWhatIsStrangeIsTold) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints(true, Side::a));
  classifier.on_event(at(1), Side::a, trace::Send{kStrange, {}});
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(kStrange));
}

TEST(ConnectionClassifier, KnowsConnectionsOfDirectAccessByTheirRequest) {
  for (const bool known_port : {false, true}) {
    testing::AllLines all;
    ConnectionClassifier classifier(all, hints(known_port));
    const Bytes ticket = from_hex("6f646166 01000000 f6ab0e18 01000000 00000000 00000000");
    classifier.on_event(at(1), Side::a, trace::Connect{ticket});
    classifier.on_event(at(2), Side::a, trace::RdmaRead{1, 0, 8});
    classifier.on_end(at(3));
    ASSERT_EQ(all.connections.size(), 1u);
    EXPECT_TRUE(all.connections[0].name.optimistic);
    EXPECT_EQ(all.connections[0].name.ends.client, "a");
    EXPECT_EQ(all.connections[0].lines.size(), 3u);
  }
}

TEST(ConnectionClassifier, OthersAreNotOptimistic) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  classifier.on_event(at(1), Side::a, trace::Send{kCall, {}});
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_FALSE(all.connections[0].name.optimistic);
}

TEST(ConnectionClassifier, GivesUpBeyondItsLimits) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  classifier.on_event(at(1), Side::a, trace::Send{Bytes(kMostUndecidedBytes + 1), {}});
  EXPECT_FALSE(classifier.wanted());
}

TEST(ConnectionClassifier, AnyNumberOfOperationsMayComeBeforeTheFirstMessage) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  for (std::size_t i = 0; i <= 2 * kMostUndecidedEvents; ++i) {
    classifier.on_event(at(i), Side::b, trace::RdmaWrite{1, 2, 3, {}});
  }
  classifier.on_event(at(1000), Side::a, trace::Send{kCall, {}});
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(kCall));
  EXPECT_EQ(all.connections[0].lines[0],
            "0 server loss: more would have to be kept than the limits allow");
}

TEST(ConnectionClassifier, AFewRepliesAreTheServersToo) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  classifier.on_event(at(1), Side::a, trace::Send{kReply, {}});
  classifier.on_end(at(2));
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.server, "a");
}

TEST(ConnectionClassifier, NoConnectionIsReportedIfTheEndsCannotBeToldApart) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints(true));
  classifier.on_event(at(1), Side::a, trace::Send{kStrange, {}});
  classifier.on_end(at(2));
  EXPECT_TRUE(all.connections.empty());
}

TEST(ConnectionClassifier, RepliesAloneAreTheServers) {
  testing::AllLines all;
  ConnectionClassifier classifier(all, hints());
  for (std::size_t i = 0; i < kMostUndecidedSends; ++i) {
    classifier.on_event(at(i), Side::b, trace::Send{kReply, {}});
  }
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.server, "b");
}

}  // namespace
}  // namespace steertag::capture
