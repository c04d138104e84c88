// The judge as a whole: limits, and that a connection joined in its middle is judged with care.
#include "conformance/judge.h"

#include "conformance/call_table.h"
#include "conformance/offer_table.h"
#include "conformance/pending_reads.h"
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(Judge, CountsFindingsBeyondItsLimit) {
  TraceBuilder trace = opened();
  for (std::uint32_t i = 0; i < kMostFindings + 10; ++i) trace.err_chunk(Role::server, i);
  EXPECT_EQ(trace.findings(), kMostFindings);
  EXPECT_EQ(trace.judge().dropped_findings(), 10u);
}

TEST(Judge, StillJudgesMessagesOfAConnectionJoinedLate) {
  TraceBuilder trace;
  trace.reply(1, 0).expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);
}

TEST(Judge, WithoutSightNothingIsUnsolicited) {
  for (const bool first : {true, false}) {
    TraceBuilder trace = opened();
    if (!first) trace.exchange(1);
    trace.lose_sight()
        .reply(7)
        .write(1, 2, 3)
        .err_chunk(Role::server, 8)
        .expect_nothing()
        .reply(9, 0)
        .expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);
  }
}

TEST(Judge, SaysWhatWasExpectedAndSeen) {
  TraceBuilder trace = opened();
  trace.exchange(0x10, 2).calls(0x11, 3);
  ASSERT_EQ(trace.findings(), 1u);
  const Finding& finding = trace.judge().findings()[0];
  EXPECT_EQ(finding.expected, "at most 2 outstanding calls, as granted");
  EXPECT_EQ(finding.observed, "rdma_xid 0x00000013 is outstanding call 3");
}

TEST(CallTable, FindsWhatWasInsertedAndNotErased) {
  CallTable table;
  // Multiples of a large power of two meet in few slots.
  for (std::uint32_t i = 0; i < kMostXids; ++i) ASSERT_NE(table.insert(i << 20), nullptr);
  EXPECT_EQ(table.insert(1), nullptr) << "the table is full";
  for (std::uint32_t i = 0; i < kMostXids; i += 2) table.erase(*table.find(i << 20));
  EXPECT_EQ(table.size(), kMostXids / 2);
  for (std::uint32_t i = 0; i < kMostXids; ++i) {
    const Call* call = table.find(i << 20);
    ASSERT_EQ(call != nullptr, i % 2 == 1) << "XID " << (i << 20);
    if (call != nullptr) {
      EXPECT_EQ(call->xid, i << 20);
    }
  }
}

TEST(CallTable, ASerialEndsWithItsUse) {
  CallTable table;
  Call* first = table.insert(1);
  const std::uint32_t index = first->index;
  const std::uint64_t serial = first->serial;
  EXPECT_EQ(table.at(index, serial), first);
  table.erase(*first);
  EXPECT_EQ(table.at(index, serial), nullptr);
  Call* second = table.insert(2);
  EXPECT_EQ(second->index, index) << "records are used again";
  EXPECT_EQ(table.at(index, serial), nullptr);
}

TEST(OfferTable, HoldsManyOffersUnderOneStag) {
  OfferTable table;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ids.push_back(*table.add({7, 10, i * 100, OfferKind::write, 0, i}));
  }
  for (std::uint32_t i = 0; i < 1000; i += 3) table.withdraw(ids[i], 55);
  std::size_t seen = 0;
  table.each(7, [&](const Offer& offer) {
    EXPECT_NE(offer.segment % 3, 0u);
    ++seen;
  });
  EXPECT_EQ(seen, table.size());
  EXPECT_EQ(table.withdrawn(7), 55u);
  EXPECT_EQ(table.withdrawn(8), std::nullopt);
}

TEST(PendingReads, CompleteInOrder) {
  PendingReads reads;
  for (std::uint32_t i = 0; i < 100; ++i) reads.push({i, 1, 10});
  std::vector<std::uint32_t> done;
  const auto note = [&](const PendingRead& read) { done.push_back(read.call); };
  reads.respond(4, note);
  EXPECT_TRUE(done.empty());
  reads.respond(6, note);
  reads.respond(25, note);
  EXPECT_EQ(done, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(PendingReads, AZeroLengthReadTakesAResponse) {
  PendingReads reads;
  reads.push({0, 1, 0});
  reads.push({1, 1, 0});
  std::size_t done = 0;
  reads.respond(0, [&](const PendingRead&) { ++done; });
  EXPECT_EQ(done, 1u);
}

}  // namespace
}  // namespace steertag::conformance
