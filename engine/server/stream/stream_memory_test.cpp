// The memory for records over TCP that have not arrived completely: who gets it, and who loses it.
#include "server/testing/stream_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kWrite = 7;

/// Records of the largest WRITE. A source has memory for three of them: two and three quarters are
/// its part, and one is set aside.
class LargeRecordTest : public StreamServerTest {
 protected:
  LargeRecordTest() : data(pattern(kLargestTransfer)) {
    ServerOptions options;
    options.pull_budget_bytes = std::size_t{12} * kLargestStreamRecord;
    serve_all(options);
    nfs3::WriteArgs args;
    args.file = make_file("large", {});
    args.count = kLargestTransfer;
    args.data = data;
    rpc::append_record(record, rpc_call(1, kWrite, encoded(args)));
  }
  /// Clients that send so many octets of it and then no more.
  void stall(std::size_t count, std::size_t octets, const std::string& source = "127.0.0.1") {
    for (std::size_t i = 0; i < count; ++i) {
      stalled.emplace_back(tcp_url, source).send(View(record).first(octets));
      drive([&] {
        stalled.back().pump();
        return stalled.back().all_sent();
      });
    }
    drive([&] { return server->connection_count() == stalled.size(); });
    settle();
  }
  /// So much time passes, in steps; in each of them `act` is done.
  void pass_with(RawStream& waiting, std::chrono::milliseconds time, auto&& act) {
    for (auto left = time; left > 0ms; left -= kWatchdogInterval) {
      now += kWatchdogInterval;
      act();
      drive([&] {
        for (RawStream& each : stalled) each.pump();
        return std::ranges::all_of(
            stalled, [](const RawStream& each) { return each.closed || each.arrived(); });
      });
      for (int i = 0; i < 100; ++i) waiting.pump(), server->poll(0ms);
    }
  }
  /// What has arrived is taken, as far as there is memory.
  void settle() {
    for (int i = 0; i < 100; ++i) server->poll(0ms);
  }

  Bytes data;
  Bytes record;
  std::deque<RawStream> stalled;
};

TEST_F(LargeRecordTest, AnAnnouncedLengthCostsNoMemory) {
  stall(60, 1000);
  RawStream client(tcp_url);
  client.send(record);
  pump({&client}, [&] { return client.records.size() == 1; });
  EXPECT_TRUE(troubles.empty()) << "a connection had to be dropped first: " << troubles.front();
  EXPECT_EQ(content("large"), data);
}

TEST_F(LargeRecordTest, OctetsThatHaveArrivedShareTheMemoryForThem) {
  stall(3, record.size() - 1);
  RawStream waiting(tcp_url);
  waiting.send(record);
  for (int i = 0; i < 100; ++i) waiting.pump(), server->poll(0ms);
  EXPECT_TRUE(waiting.records.empty()) << "the fourth record found memory";
  expect_others_are_served();
  now += StreamTimeouts().mid_record;
  pump({&waiting}, [&] { return waiting.records.size() == 1; });
  EXPECT_EQ(troubles.size(), 3U);
  EXPECT_EQ(content("large"), data);
}

TEST_F(LargeRecordTest, WhoStallsWhileOthersWaitForMemoryIsDroppedSoon) {
  stall(3, record.size() - 1);
  RawStream waiting(tcp_url);
  waiting.send(record);
  const auto pass = [&](std::chrono::milliseconds time) { pass_with(waiting, time, [] {}); };
  pass(kContendedWait - kWatchdogInterval);
  EXPECT_TRUE(troubles.empty()) << "dropped too early: " << troubles.front();
  EXPECT_TRUE(waiting.records.empty()) << "the fourth record found memory";
  // The first look sees what came before; the memory is free after the last.
  pass(4 * kWatchdogInterval);
  EXPECT_EQ(waiting.records.size(), 1U)
      << "the fourth record still waits for memory that is held by clients that have sent nothing "
         "for "
      << kContendedWait.count() << " ms";
  ASSERT_FALSE(troubles.empty()) << "no connection was dropped, or no trouble was reported";
  EXPECT_EQ(
      troubles[0],
      "a time limit passed: less than 32768 octets of a record came in 1000 ms while others waited "
      "for memory");
}

TEST_F(LargeRecordTest, WhoTricklesWhileOthersWaitForMemoryIsDroppedToo) {
  stall(3, record.size() - 1000);
  RawStream waiting(tcp_url);
  waiting.send(record);
  pass_with(waiting, kContendedWait + 3 * kWatchdogInterval, [this] {
    for (RawStream& each : stalled) each.send(Bytes(10));
  });
  EXPECT_EQ(waiting.records.size(), 1U)
      << "a record waits for memory that is held by clients that send 100 octets a second";
}

TEST_F(LargeRecordTest, WhoSendsSteadilyWhileOthersWaitIsNotDropped) {
  const std::size_t rest = 16 * kLeastProgressBytes;
  stall(3, record.size() - rest);
  RawStream waiting(tcp_url);
  waiting.send(record);
  std::size_t sent = record.size() - rest;
  const std::size_t step = kLeastProgressBytes / 8;  // in a tenth of kContendedWait
  pass_with(waiting, 3 * kContendedWait, [&] {
    for (RawStream& each : stalled) each.send(View(record).subspan(sent, step));
    sent += step;
  });
  EXPECT_TRUE(troubles.empty()) << troubles.front();
}

TEST_F(LargeRecordTest, AStallWhileNoConnectionWaitsHasTheLongerTime) {
  stall(2, record.size() - 1);
  for (auto left = 2 * kContendedWait; left > 0ms; left -= kWatchdogInterval) {
    now += kWatchdogInterval;
    settle();
  }
  EXPECT_TRUE(troubles.empty()) << troubles.front();
}

TEST_F(LargeRecordTest, RecordsThatHoldAllTheMemoryAreFinishedOneAfterTheOther) {
  stall(12, record.size() / 2);
  for (RawStream& each : stalled) each.send(View(record).subspan(record.size() / 2));
  drive([&] {
    for (RawStream& each : stalled) each.pump();
    return std::ranges::all_of(stalled,
                               [](const RawStream& each) { return !each.records.empty(); });
  });
  EXPECT_TRUE(troubles.empty()) << troubles.front();
}

/// A crowd of one source that has all the memory that it may have, and more of it waits. The clock
/// stands still, so that none of it is dropped.
class CrowdTest : public LargeRecordTest {
 protected:
  void SetUp() override { stall(12, record.size() / 2, "127.0.0.2"); }
  void expect_taken(RawStream& client, std::size_t replies) {
    client.send(record);
    pump({&client}, [&] { return client.records.size() == replies; });
    EXPECT_TRUE(troubles.empty()) << "a connection had to be dropped first: " << troubles.front();
    EXPECT_EQ(content("large"), data);
  }
};

TEST_F(CrowdTest, AnotherSourceDoesNotNoticeIt) {
  RawStream client(tcp_url);
  expect_taken(client, 1);
}

TEST_F(CrowdTest, AClientOfItsSourceThatHasDeliveredBeforeDoesNotNoticeIt) {
  RawStream client(tcp_url, "127.0.0.2");
  client.send_record(null_call(7));
  pump({&client}, [&] { return client.records.size() == 1; });
  expect_taken(client, 2);
}

TEST_F(CrowdTest, ASlowClientOfAnotherSourceIsNotDroppedForIt) {
  RawStream slow(tcp_url);
  slow.send(View(record).first(record.size() / 2));
  pump({&slow}, [&] { return slow.arrived(); });
  // What waits in the system's buffers of the crowd never arrives.
  for (auto left = kContendedWait + 3 * kWatchdogInterval; left > 0ms; left -= kWatchdogInterval) {
    now += kWatchdogInterval;
    settle();
  }
  pump({&slow}, [&] { return !troubles.empty(); });
  EXPECT_FALSE(troubles.empty()) << "none of the crowd was dropped";
  EXPECT_FALSE(slow.closed) << "dropped for memory that only the crowd waits for";
}

}  // namespace
}  // namespace steertag::peer::testing
