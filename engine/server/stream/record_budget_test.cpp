// Who gets memory for records: parts of sources, turns, and what is set aside.
#include "server/stream/record_budget.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "net/socket.h"

namespace steertag::peer {
namespace {

net::Source source(const std::string& host) {
  return net::Source(net::resolve({"tcp", host, 2049, ""}, false)->front());
}

class RecordBudgetTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kShared = 1000;
  static constexpr std::size_t kPart = kShared / kRecordParts;

  /// The budget passes connections on and never looks at one.
  StreamConnection* connection(std::size_t number) {
    return reinterpret_cast<StreamConnection*>(&places[number]);
  }
  RecordBudget::Owner owner(std::size_t number, const net::Source& of, bool proven = false) {
    return {connection(number), of, proven};
  }
  /// The numbers of those that have what they waited for, with a + if it is what is set aside.
  std::string granted() {
    std::string numbers;
    while (const auto grant = budget.next()) {
      const auto* place = reinterpret_cast<const std::max_align_t*>(grant->connection);
      numbers += std::to_string(place - places.data()) + (grant->is_set_aside ? "+ " : " ");
    }
    return numbers;
  }

  std::array<std::max_align_t, 10> places{};
  net::Source a = source("192.0.2.1"), b = source("192.0.2.2"), c = source("192.0.2.3");
  RecordBudget budget{kLargestStreamRecord + kShared};
};

TEST_F(RecordBudgetTest, ASourceHasAPartAndLeavesTheRestToOthers) {
  EXPECT_TRUE(budget.take(owner(0, a), kPart));
  EXPECT_FALSE(budget.take(owner(1, a), 1));
  EXPECT_TRUE(budget.take(owner(2, b), kPart));
  EXPECT_TRUE(budget.is_wanted_from(a));
  EXPECT_FALSE(budget.is_wanted_from(b)) << "only a's records wait, and only for a's part";
}

TEST_F(RecordBudgetTest, WhoHasDeliveredBeforeHasAllPartsButOne) {
  EXPECT_TRUE(budget.take(owner(0, a), kPart));
  EXPECT_FALSE(budget.take(owner(1, a), 1));
  EXPECT_TRUE(budget.take(owner(2, a, true), 2 * kPart)) << "held up by one that has not delivered";
  EXPECT_FALSE(budget.take(owner(3, a, true), 1));
  EXPECT_TRUE(budget.take(owner(4, b), kPart));
}

TEST_F(RecordBudgetTest, WhatIsSetAsideGoesToOneAtATime) {
  EXPECT_TRUE(budget.take(owner(0, a), kPart));
  EXPECT_FALSE(budget.take(owner(1, a), 1));
  EXPECT_FALSE(budget.take(owner(2, a), 1));
  EXPECT_EQ(granted(), "1+ ");
  budget.give_back_set_aside();
  EXPECT_EQ(granted(), "2+ ");
  EXPECT_FALSE(budget.has_waiting());
}

TEST_F(RecordBudgetTest, SourcesTakeTurnsAndTheirRecordsKeepTheirOrder) {
  EXPECT_TRUE(budget.take(owner(0, a), kPart));
  EXPECT_TRUE(budget.take(owner(1, b), kPart));
  for (const std::size_t number : {2U, 3U, 4U}) EXPECT_FALSE(budget.take(owner(number, a), 10));
  for (const std::size_t number : {5U, 6U}) EXPECT_FALSE(budget.take(owner(number, b), 10));
  budget.give_back(a, kPart);
  budget.give_back(b, kPart);
  EXPECT_EQ(granted(), "2 5 3 6 4 ");
}

TEST_F(RecordBudgetTest, SmallRecordsDoNotPassOneThatWaitsForTheMemoryOfAll) {
  EXPECT_TRUE(budget.take(owner(0, a, true), 3 * kPart));
  EXPECT_TRUE(budget.take(owner(1, b), kPart - 1));
  EXPECT_FALSE(budget.take(owner(2, c), 2));
  EXPECT_EQ(granted(), "2+ ");
  EXPECT_FALSE(budget.take(owner(3, c), 2));
  EXPECT_FALSE(budget.take(owner(4, b, true), 1)) << "there is one octet, but 3 was first";
  EXPECT_TRUE(budget.is_wanted_from(a)) << "3 waits for the memory of all";
  budget.give_back(b, 2);
  EXPECT_EQ(granted(), "3 4 ");
}

TEST_F(RecordBudgetTest, AForgottenOneHoldsUpNoOther) {
  EXPECT_TRUE(budget.take(owner(0, a), kPart));
  for (const std::size_t number : {1U, 2U}) EXPECT_FALSE(budget.take(owner(number, a), 1));
  budget.forget(*connection(1));
  EXPECT_EQ(granted(), "2+ ");
}

}  // namespace
}  // namespace steertag::peer
