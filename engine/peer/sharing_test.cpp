// What connections share: turns for pull memory, budgets for replies and posted operations.
#include <map>

#include "peer/raw_client.h"

namespace steertag::peer::testing {
namespace {

/// Says for each of its calls whether it can start, and notes what was asked.
class FakeUser final : public PullUser {
 public:
  FakeUser(std::string its_name, std::vector<std::string>& its_log)
      : name(std::move(its_name)), log(its_log) {}
  PullStart start_waiting_pull(std::uint32_t transaction) override {
    const PullStart start = starts[transaction];
    if (start == PullStart::started) log.push_back(name + std::to_string(transaction));
    return start;
  }

  std::string name;
  std::vector<std::string>& log;
  std::map<std::uint32_t, PullStart> starts;  // PullStart::started unless set
};

class PullQueueTest : public ::testing::Test {
 protected:
  using Log = std::vector<std::string>;
  Log log;
  FakeUser a{"a", log};
  FakeUser b{"b", log};
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

class SharingTest : public PeerTest {
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
  void drive_both(const RawClient& client, std::size_t received) {
    drive([&] {
      stalled_provider->poll(0ms);
      return client.closed || client.received.size() == received;
    });
    EXPECT_FALSE(client.closed) << client.reason.detail;
  }

  std::unique_ptr<fabric::Provider> stalled_provider;
  std::unique_ptr<fabric::Domain> stalled_domain;
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
