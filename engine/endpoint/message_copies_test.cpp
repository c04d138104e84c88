// Copies of messages: how many there may be, and what they keep.
#include "endpoint/message_copies.h"

#include <gtest/gtest.h>

#include "fabric/testing/endpoint.h"

namespace steertag::peer {
namespace {

using fabric::testing::pattern;

TEST(MessageCopiesTest, ThereAreAsManyAsWereAllowed) {
  MessageCopies copies;
  EXPECT_FALSE(copies.add({})) << "none was allowed";
  copies.allow(2);
  const auto first = copies.add(pattern(10));
  const auto second = copies.add(pattern(20, 3));
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_FALSE(copies.add(pattern(1)));
  copies.allow(1);
  EXPECT_TRUE(copies.add(pattern(1)));
}

TEST(MessageCopiesTest, AMessageStaysUntilItIsRemoved) {
  MessageCopies copies;
  copies.allow(3);
  const auto kept = copies.add(pattern(100));
  const MutableView view = copies.at(*kept);
  for (int i = 0; i < 50; ++i) {
    const auto other = copies.add(pattern(1000, static_cast<std::uint8_t>(i)));
    ASSERT_TRUE(other);
    copies.remove(*other);
  }
  EXPECT_EQ(copies.at(*kept).data(), view.data());
  EXPECT_EQ(Bytes(view.begin(), view.end()), pattern(100));
}

TEST(MessageCopiesTest, AfterAReleaseThereAreAsManyAgain) {
  MessageCopies copies;
  copies.allow(1);
  copies.remove(*copies.add(pattern(4)));
  copies.release();
  ASSERT_TRUE(copies.add(pattern(4)));
  EXPECT_FALSE(copies.add(pattern(4)));
}

}  // namespace
}  // namespace steertag::peer
