// Tests of the distinction between calls and replies.
#include "rpc/direction.h"

#include <gtest/gtest.h>

#include "rpc/testing.h"

namespace steertag::rpc {
namespace {

using testing::from_hex;

TEST(Direction, ComesFromTheMessageType) {
  EXPECT_EQ(direction(from_hex("12345678 00000000 00000002")), MessageType::CALL);
  EXPECT_EQ(direction(from_hex("12345678 00000001")), MessageType::REPLY);
}

TEST(Direction, UnknownOrCutTypesHaveNone) {
  EXPECT_EQ(direction(from_hex("12345678 00000002")), std::nullopt);
  EXPECT_EQ(direction(from_hex("12345678 000000")), std::nullopt);
  EXPECT_EQ(direction({}), std::nullopt);
}

TEST(Xid, IsTheFirstWord) {
  EXPECT_EQ(xid(from_hex("12345678")), 0x12345678u);
  EXPECT_EQ(xid(from_hex("123456")), std::nullopt);
}

}  // namespace
}  // namespace steertag::rpc
