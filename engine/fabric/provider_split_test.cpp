// Every provider: Sends whose octets their receiver places.
#include <algorithm>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

/// Names the same place for each message.
class Reader final : public HeadReader {
 public:
  Placement on_head(View head) override {
    heads.emplace_back(head.begin(), head.end());
    return placement;
  }
  Placement placement;
  std::vector<Bytes> heads;
};

class ProviderSplitTest : public ProviderSuite {
 protected:
  static constexpr std::size_t kReceive = 262'144;

  void up_split() {
    ASSERT_NO_FATAL_FAILURE(up(2, kReceive));
    if (!can().splits_sends) {
      EXPECT_FALSE(pair.server->split_sends(&reader)) << "it promises what it cannot do";
      GTEST_SKIP() << "the provider gives whole Sends only";
    }
    // An observer gets whole messages.
    pair.server->observe(nullptr, nullptr);
    ASSERT_TRUE(ok(pair.server->split_sends(&reader)));
  }
  /// Places `length` octets from `from` on of a message of `size` octets. What has arrived.
  void transfer(std::size_t size, std::size_t from, std::size_t length) {
    SCOPED_TRACE(::testing::Message() << length << " octets from " << from << " of " << size);
    place.assign(length, std::byte{0xee});
    reader.placement = {from, place};
    const std::size_t before = pair.server_notices.received.size();
    message = pattern(size, 7);
    ASSERT_TRUE(ok(send(*pair.client, message)));
    ASSERT_TRUE(pair.poll_until([&] {
      return pair.server_notices.received.size() > before &&
             pair.client_notices.completed.size() > before;
    }));
    const Received& last = pair.server_notices.received.back();
    ASSERT_EQ(last.bytes.size(), size);
    const bool split = size > kHeadBytes;
    const std::size_t end = split ? std::min(size, from + length) : 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool placed = split && i >= from && i < end;
      ASSERT_EQ(placed ? place[i - from] : last.bytes[i], message[i]) << "octet " << i;
      // What the head had already is in both.
      if (placed && i >= kHeadBytes) {
        ASSERT_EQ(last.bytes[i], std::byte{0}) << "the receive has octet " << i << " too";
      }
    }
    for (std::size_t i = end > from ? end - from : 0; i < length; ++i) {
      ASSERT_EQ(place[i], std::byte{0xee}) << "octet " << i << " of the place";
    }
  }

  Reader reader;
  Bytes place;
  Bytes message;
};

TEST_P(ProviderSplitTest, PlacesOctetsOfEverySize) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(transfer(kReceive, 100, 262'000));
  ASSERT_NO_FATAL_FAILURE(transfer(70'000, 256, 65'536));
}

TEST_P(ProviderSplitTest, PlacesOctetsInsideAMessage) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(transfer(20'000, 300, 10'001));
  // The message ends before the place is full.
  ASSERT_NO_FATAL_FAILURE(transfer(9000, 160, 20'000));
}

TEST_P(ProviderSplitTest, LeavesMessagesAloneThatHaveNoPlace) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(transfer(kHeadBytes, 0, 100));
  EXPECT_TRUE(reader.heads.empty()) << "a message that is no more than a head";
}

TEST_P(ProviderSplitTest, TellsTheHeadOnce) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(transfer(100'000, 0, 0));
  ASSERT_EQ(reader.heads.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(reader.heads[0], View(message).first(kHeadBytes)));
}

TEST_P(ProviderSplitTest, ObserversSeeWholeMessages) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  pair.server->observe(&pair.server_events, nullptr);
  place.assign(65'536, std::byte{0});
  reader.placement = {160, place};
  const Bytes sent = pattern(66'000, 3);
  ASSERT_TRUE(ok(send(*pair.client, sent)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_TRUE(pair.server_notices.received[0].bytes == sent);
}

TEST_P(ProviderSplitTest, GivesWholeSendsAgain) {
  ASSERT_NO_FATAL_FAILURE(up_split());
  if (IsSkipped()) return;
  ASSERT_TRUE(ok(pair.server->split_sends(nullptr)));
  ASSERT_NO_FATAL_FAILURE(transfer(50'000, 60'000, 10));
  EXPECT_TRUE(reader.heads.empty());
}

STEERTAG_OVER_PROVIDERS(ProviderSplitTest);

}  // namespace
}  // namespace steertag::fabric
