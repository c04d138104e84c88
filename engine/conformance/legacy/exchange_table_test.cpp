// The exchange table of superseded dialects: which exchange a full table evicts.
#include "conformance/legacy/exchange_table.h"

#include <gtest/gtest.h>

namespace steertag::conformance {
namespace {

using Table = ExchangeTable<int>;

TEST(ExchangeTable, KeepsACallUntilItsAnswerAndBeyond) {
  Table table;
  EXPECT_FALSE(table.call(1, 10));
  ASSERT_NE(table.find(1), nullptr);
  EXPECT_FALSE(table.find(1)->answered);
  EXPECT_EQ(table.waiting(), 1u);
  EXPECT_EQ(table.answer(1, 11)->value, 10);
  EXPECT_TRUE(table.find(1)->answered);
  EXPECT_EQ(table.find(1)->value, 11);
  EXPECT_EQ(table.waiting(), 0u);
  EXPECT_EQ(table.find(2), nullptr);
}

TEST(ExchangeTable, BeginsAnXidAnew) {
  Table table;
  table.call(1, 10);
  EXPECT_FALSE(table.call(1, 11)->answered);
  EXPECT_EQ(table.waiting(), 1u);
  table.answer(1, 12);
  EXPECT_TRUE(table.call(1, 13)->answered);
  EXPECT_EQ(table.waiting(), 1u);
  EXPECT_EQ(table.forgotten(), 0u);
}

TEST(ExchangeTable, ForgetsTheOldestAnswerFirst) {
  Table table(3);
  table.call(1, 0);
  table.call(2, 0);
  table.call(3, 0);
  table.answer(3, 0);
  table.answer(2, 0);
  EXPECT_EQ(table.call(4, 0)->xid, 3u);
  EXPECT_EQ(table.answer(5, 0)->xid, 2u);  // its call was not seen
  EXPECT_EQ(table.forgotten(), 0u);
  EXPECT_NE(table.find(1), nullptr);
  EXPECT_EQ(table.waiting(), 2u);
}

TEST(ExchangeTable, CountsCallsThatItForgets) {
  Table table(2);
  table.call(1, 0);
  table.call(2, 0);
  EXPECT_EQ(table.call(3, 0)->xid, 1u);
  EXPECT_EQ(table.forgotten(), 1u);
  EXPECT_EQ(table.waiting(), 2u);
  EXPECT_FALSE(table.answer(2, 0)->answered);
  EXPECT_EQ(table.answer(1, 0)->xid, 2u);
  EXPECT_EQ(table.forgotten(), 1u);
}

}  // namespace
}  // namespace steertag::conformance
