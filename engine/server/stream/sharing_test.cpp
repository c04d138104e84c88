// What connections share: turns for pull memory, budgets for replies and posted operations.
#include <map>

#include "server/testing/stream_fixture.h"

namespace steertag::peer::testing {
namespace {

/// Says for each of its calls whether it can start, and notes what was asked.
class FakeConnection final : public QueuedConnection {
 public:
  FakeConnection(std::string its_name, std::vector<std::string>& its_log,
                 std::string its_host = "h")
      : name(std::move(its_name)), host(std::move(its_host)), log(its_log) {}
  PullStart start_waiting_pull(std::uint32_t transaction) override {
    const PullStart start = starts[transaction];
    if (start == PullStart::started) log.push_back(name + std::to_string(transaction));
    return start;
  }
  const std::string& pull_host() const override { return host; }
  bool proven() const override { return is_proven; }

  std::string name;
  std::string host;
  bool is_proven = true;
  std::vector<std::string>& log;
  std::map<std::uint32_t, PullStart> starts;  // PullStart::started unless set
};

class PullQueueTest : public ::testing::Test {
 protected:
  using Log = std::vector<std::string>;
  Log log;
  FakeConnection a{"a", log};
  FakeConnection b{"b", log};
  PullQueue queue;
};

TEST_F(PullQueueTest, ConnectionsTakeTurns) {
  for (const std::uint32_t call : {1U, 2U, 3U}) queue.add(a, call);
  for (const std::uint32_t call : {1U, 2U}) queue.add(b, call);
  queue.serve();
  EXPECT_EQ(log, (Log{"a1", "b1", "a2", "b2", "a3"}));
  EXPECT_TRUE(queue.empty());
}

TEST_F(PullQueueTest, WhoHasUsedUpItsShareLetsOthersPass) {
  for (const std::uint32_t call : {1U, 2U}) queue.add(a, call);
  for (const std::uint32_t call : {1U, 2U}) queue.add(b, call);
  a.starts[2] = PullStart::share_used_up;
  queue.serve();
  EXPECT_EQ(log, (Log{"a1", "b1", "b2"}));
  EXPECT_FALSE(queue.empty());
  a.starts[2] = PullStart::started;
  queue.serve();
  EXPECT_EQ(log.back(), "a2");
}

TEST_F(PullQueueTest, WhoWaitsForMemoryIsNotPassed) {
  queue.add(a, 1);
  queue.add(b, 1);
  a.starts[1] = PullStart::no_memory;
  queue.serve();
  EXPECT_EQ(log, Log{}) << "a small call could pass a large one for ever";
  queue.forget(a);
  queue.serve();
  EXPECT_EQ(log, Log{"b1"});
}

TEST_F(PullQueueTest, HostsTakeTurnsHoweverManyConnectionsTheyHave) {
  FakeConnection other{"o", log, "other"};
  for (FakeConnection* connection : {&a, &b}) {
    for (const std::uint32_t call : {1U, 2U}) queue.add(*connection, call);
  }
  for (const std::uint32_t call : {1U, 2U}) queue.add(other, call);
  EXPECT_EQ(queue.serve(), Shortage::none);
  EXPECT_EQ(log, (Log{"a1", "o1", "b1", "o2", "a2", "b2"}));
}

TEST_F(PullQueueTest, ProvenOnesTakeTurnsWithAllOthers) {
  FakeConnection c{"c", log};
  for (FakeConnection* connection : {&b, &c})
    connection->is_proven = false, queue.add(*connection, 1);
  for (const std::uint32_t call : {1U, 2U}) queue.add(a, call);
  queue.serve();
  EXPECT_EQ(log, (Log{"b1", "a1", "c1", "a2"}));
}

TEST_F(PullQueueTest, ProvenOnesPassThoseWhosePartIsUsedUp) {
  b.is_proven = false;
  b.starts[1] = PullStart::part_used_up;
  queue.add(b, 1);
  for (const std::uint32_t call : {1U, 2U}) queue.add(a, call);
  EXPECT_EQ(queue.serve(), Shortage::of_unproven);
  EXPECT_EQ(log, (Log{"a1", "a2"}));
  b.is_proven = true;
  b.starts[1] = PullStart::started;
  queue.promote(b);
  EXPECT_EQ(queue.serve(), Shortage::none);
  EXPECT_EQ(log.back(), "b1");
  EXPECT_TRUE(queue.empty());
}

TEST_F(PullQueueTest, TheLastOfACrowdNeedNotWaitForAllOfIt) {
  std::deque<FakeConnection> crowd;
  for (const char* name : {"c", "d", "e", "f"}) {
    crowd.emplace_back(name, log).is_proven = false;
    queue.add(crowd.back(), 1);
  }
  queue.serve();
  EXPECT_EQ(log, (Log{"c1", "f1", "d1", "e1"}));
}

TEST(ReplyBudgetTest, ShareAndTotalAreLimitedAndOneReplyIsAlwaysPossible) {
  ReplyBudget budget(1600);
  const std::size_t share = 1600 / kReplyShares;
  EXPECT_TRUE(budget.allows(share - 1));
  EXPECT_FALSE(budget.allows(share));
  budget.take(1600);
  EXPECT_FALSE(budget.allows(1));
  EXPECT_TRUE(budget.allows(0));
  budget.give_back(1);
  EXPECT_TRUE(budget.allows(1));
}

class SharingTest : public StreamTest {
 protected:
  /// A client that does nothing, not even answer RDMA Reads, unless its own provider is polled.
  std::unique_ptr<RawClient> stalling_client() {
    stalled_provider = *fabric::make_provider("iwarp", seeded_random(9));
    stalled_domain = stalled_provider->make_domain();
    Bytes announced;
    wire::encode(wire::PrivateData{false, 4096, 4096}, announced);
    auto client = std::make_unique<RawClient>(*stalled_provider, *stalled_domain, url, announced);
    drive([&] {
      stalled_provider->poll(0ms);
      return client->up || client->closed;
    });
    EXPECT_TRUE(client->up);
    return client;
  }
  wire::Draft pull(std::uint32_t xid, const nfs3::FileHandle& file, fabric::Region& region) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = static_cast<std::uint32_t>(region.bytes().size());
    Bytes arguments = encoded(args);
    wire::store_u32(arguments.data() + arguments.size() - 4, args.count);
    wire::Draft draft = draft_call(xid, rpc_call(xid, 7, arguments));
    draft.read_list.push_back({1,
                               {static_cast<std::uint32_t>(draft.payload.size()),
                                {region.stag(), args.count, region.base()}},
                               false});
    return draft;
  }
  wire::Draft read(std::uint32_t xid, const nfs3::FileHandle& file, fabric::Region& region,
                   std::uint32_t segments) {
    const auto length = static_cast<std::uint32_t>(region.bytes().size());
    wire::Draft draft = draft_call(xid, rpc_call(xid, 6, encoded(nfs3::ReadArgs{file, 0, length})));
    wire::DraftChunk chunk{1, {}, {}, false};
    for (std::uint32_t i = 0; i < segments; ++i) {
      chunk.segments.push_back(
          {region.stag(), length / segments, region.base() + i * (length / segments)});
    }
    draft.write_list.push_back(std::move(chunk));
    return draft;
  }
  /// Clients that announce a read chunk of a mebibyte each and then serve nothing.
  void stall(std::size_t count, const nfs3::FileHandle& file) {
    for (std::size_t i = 0; i < count; ++i) {
      crowd.push_back(stalling_client());
      crowd_memory.push_back(stalled_domain->allocate(1 << 20, {true, false}));
      crowd_providers.push_back(std::move(stalled_provider));
      crowd_domains.push_back(std::move(stalled_domain));
      crowd.back()->send(pull(1, file, *crowd_memory.back()));
      crowd_providers.back()->poll(0ms);
    }
  }
  /// Submits a WRITE of a mebibyte.
  void write(Nfs3Client& client, const nfs3::FileHandle& file, View data, bool& done) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = static_cast<std::uint32_t>(data.size());
    args.data = data;
    ASSERT_TRUE(client.requester().submit(
        client.request(nfs3::Procedure::NFSPROC3_WRITE, args),
        [&](Expected<CallReply, CallError> reply) { done = reply.has_value(); }));
  }
  /// Rounds in which everything that can happen at this time happens.
  void settle(Requester& requester) {
    for (int i = 0; i < kSettlingRounds; ++i) requester.step(0ms), server->poll(0ms);
  }
  /// The same for so long on the server's clock.
  void pass(std::chrono::milliseconds time, Requester& requester) {
    for (auto left = time; left > 0ms; left -= kWatchdogInterval) {
      now += kWatchdogInterval;
      settle(requester);
    }
  }

  void drive_both(const RawClient& client, std::size_t received) {
    drive([&] {
      stalled_provider->poll(0ms);
      return client.closed || client.received.size() == received;
    });
    EXPECT_FALSE(client.closed) << client.reason.detail;
  }

  static constexpr int kSettlingRounds = 100;  // a mebibyte over loopback takes a few tens
  std::unique_ptr<fabric::Provider> stalled_provider;
  std::unique_ptr<fabric::Domain> stalled_domain;
  std::deque<std::unique_ptr<fabric::Provider>> crowd_providers;
  std::deque<std::unique_ptr<fabric::Domain>> crowd_domains;
  std::deque<std::unique_ptr<fabric::Region>> crowd_memory;
  std::deque<std::unique_ptr<RawClient>> crowd;
};

TEST_F(SharingTest, ClientThatStallsLeavesPullMemoryToOthers) {
  ServerOptions options;
  options.pull_budget_bytes = 8 << 20;
  serve(options);
  const nfs3::FileHandle file = make_file("file", {});
  const auto stalling = stalling_client();
  const auto region = stalled_domain->allocate(1 << 20, {true, false});
  for (std::uint32_t xid = 1; xid <= 30; ++xid) stalling->send(pull(xid, file, *region));
  stalled_provider->poll(0ms);
  drive([&] { return server->statistics().messages == 30; });
  EXPECT_LE(server->pool().loaned_bytes(), options.pull_budget_bytes / 2);

  auto victim = connect();
  const Bytes data = pattern(1 << 20);
  nfs3::WriteArgs args;
  args.file = file;
  args.count = 1 << 20;
  args.data = data;
  bool done = false;
  ASSERT_TRUE(victim->requester().submit(
      victim->request(nfs3::Procedure::NFSPROC3_WRITE, args),
      [&](Expected<CallReply, CallError> reply) { done = reply.has_value(); }));
  drive([&] { return done; }, &victim->requester());
  EXPECT_EQ(content("file"), data);
  drive_both(*stalling, 30);
}

/// A server with memory for six pulls of a mebibyte, four of them for connections that have not
/// delivered anything yet.
class StalledPullTest : public SharingTest {
 protected:
  StalledPullTest() : data(pattern(1 << 20)) {
    ServerOptions options;
    options.pull_budget_bytes = std::size_t{6} * ((1 << 20) + 65536);
    serve_all(options);
    file = make_file("file", {});
    stalled_file = make_file("stalled", {});
  }

  Bytes data;
  nfs3::FileHandle file;
  nfs3::FileHandle stalled_file;
};

TEST_F(StalledPullTest, WhoHasDeliveredBeforeDoesNotNoticeThem) {
  auto proven = connect();
  bool done = false;
  write(*proven, file, data, done);
  drive([&] { return done; }, &proven->requester());
  stall(20, stalled_file);
  drive([&] { return server->statistics().connections == 21; });
  done = false;
  write(*proven, file, data, done);
  drive([&] { return done; }, &proven->requester());
  EXPECT_TRUE(done)
      << "a client that has delivered before waits for memory that is held by clients "
         "that have delivered nothing";
  EXPECT_EQ(content("file"), data);
  EXPECT_TRUE(troubles.empty()) << "a connection had to be dropped first: " << troubles.front();
}

TEST_F(StalledPullTest, ANewOneWaitsShortlyHoweverManyTheyAre) {
  stall(20, stalled_file);
  auto newcomer = connect();
  bool done = false;
  write(*newcomer, file, data, done);
  settle(newcomer->requester());
  EXPECT_FALSE(done) << "the stalled ones left memory: they are too few for this test";
  pass(kContendedWait - kWatchdogInterval, newcomer->requester());
  EXPECT_TRUE(troubles.empty()) << "dropped too early: " << troubles.front();
  pass(3 * kWatchdogInterval, newcomer->requester());
  EXPECT_TRUE(done) << "the new client's WRITE still waits for memory that is held by clients that "
                       "have delivered nothing for "
                    << kContendedWait.count() << " ms";
  ASSERT_FALSE(troubles.empty()) << "no connection was dropped, or no trouble was reported";
  EXPECT_EQ(troubles[0],
            "a time limit passed: less than 32768 octets of read chunks came in 1000 ms while "
            "others waited for memory");
  EXPECT_EQ(troubles.size(), server->statistics().dropped_connections);
}

TEST_F(StalledPullTest, NoConnectionIsDroppedWhileNoneWaits) {
  auto other = connect();
  stall(4, stalled_file);
  drive([&] { return server->pool().loaned_bytes() > 4U << 20; });
  pass(3 * kContendedWait, other->requester());
  EXPECT_TRUE(troubles.empty()) << troubles.front();
  EXPECT_EQ(server->connection_count(), 5U);
}

TEST_F(StalledPullTest, TheTimeInWhichTheServerDidNotLookIsNotTheirs) {
  stall(5, stalled_file);
  auto other = connect();
  settle(other->requester());
  now += 10 * kContendedWait;
  settle(other->requester());
  EXPECT_TRUE(troubles.empty()) << troubles.front();
}

TEST_F(SharingTest, RepliesThatAreNotTakenAreLimited) {
  serve();
  const nfs3::FileHandle file = make_file("file", pattern(1 << 20));
  const auto stalling = stalling_client();
  const auto region = stalled_domain->allocate(1 << 20, {false, true});
  for (std::uint32_t xid = 1; xid <= kDefaultCredits; ++xid)
    stalling->send(read(xid, file, *region, 1));
  stalled_provider->poll(0ms);
  drive([&] { return server->statistics().messages == kDefaultCredits; });
  EXPECT_GT(server->replies().held_bytes(), 0U);
  EXPECT_LE(server->replies().held_bytes(), kReplyBudgetBytes / kReplyShares + (2U << 20));
  drive_both(*stalling, kDefaultCredits);
  EXPECT_EQ(copy(region->bytes()), pattern(1 << 20));
  drive([&] { return server->replies().held_bytes() == 0; });
}

TEST_F(SharingTest, OperationsBeyondTheQueueAreHeldBack) {
  fabric::Limits limits;
  limits.posted_operations = kMostPostedOperations;
  provider = *fabric::make_provider("iwarp", seeded_random(7), limits);
  serve();
  const nfs3::FileHandle file = make_file("file", pattern(160 * 1024));
  const auto client = stalling_client();
  const auto region = stalled_domain->allocate(160 * 1024, {true, true});
  // 5120 RDMA Writes, within the credits and the named limits.
  for (std::uint32_t xid = 1; xid <= kDefaultCredits; ++xid)
    client->send(read(xid, file, *region, 160));
  drive_both(*client, kDefaultCredits);
  EXPECT_EQ(copy(region->bytes()), pattern(160 * 1024));
}

TEST(ReplyPayloadTest, LargeBuffersAreGivenBack) {
  ReplyPayload payload;
  payload.stream().resize(100 * kKeptBufferBytes);
  payload.clear();
  EXPECT_LE(payload.held_bytes(), kKeptBufferBytes);
}

}  // namespace
}  // namespace steertag::peer::testing
