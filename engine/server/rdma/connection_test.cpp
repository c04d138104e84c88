// Connections of the reference peers: credits, pipelining, loss and retransmission, limits.
// Also many clients.
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

class ConnectionTest : public PeerTest {};

TEST_F(ConnectionTest, CallsArePipelinedWithinTheCredits) {
  ServerOptions options;
  options.credits = 8;
  serve(options);
  const Bytes whole = pattern(200'000);
  const nfs3::FileHandle file = make_file("file", whole);
  auto client = connect();
  Requester& requester = client->requester();
  EXPECT_EQ(requester.credits().granted(), 8U);
  constexpr std::uint32_t kCalls = 300;
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    requester.submit(
        client->request(nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, i * 600ULL, 5000}),
        [&, i](Expected<CallReply, CallError> reply) {
          ASSERT_TRUE(reply) << reply.error().message();
          const std::size_t length = std::min<std::size_t>(5000, whole.size() - i * 600);
          EXPECT_EQ(copy(reply->item), copy(View(whole).subspan(i * 600, length)));
          ++done;
        });
  }
  drive([&] { return done == kCalls; }, &requester);
  EXPECT_EQ(requester.statistics().most_in_flight, 8U);
  EXPECT_EQ(requester.pool().loaned_bytes(), 0U);
  EXPECT_EQ(requester.pool().damaged(), 0U);
}

TEST_F(ConnectionTest, FirstCallGoesAlone) {
  serve();
  Nfs3Client client(*provider, url, {}, 1);
  std::uint32_t done = 0;
  for (int i = 0; i < 10; ++i) {
    client.requester().submit(client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
                              [&](Expected<CallReply, CallError> reply) { done += reply ? 1 : 0; });
  }
  drive([&] { return client.requester().up(); }, &client.requester());
  client.requester().step(0ms);
  EXPECT_EQ(client.requester().credits().in_flight(), 1U) << "RFC 8166 3.3.3: one credit at first";
  drive([&] { return done == 10; }, &client.requester());
}

TEST_F(ConnectionTest, ReserveIsLeftAloneWhereThereIsMore) {
  ServerOptions options;
  options.credits = 8;
  serve(options);
  RequesterOptions wishes;
  wishes.reserve = 1;
  Nfs3Client client(*provider, url, wishes, 1);
  std::uint32_t done = 0;
  for (int i = 0; i < 30; ++i) {
    client.requester().submit(client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
                              [&](Expected<CallReply, CallError> reply) { done += reply ? 1 : 0; });
  }
  drive([&] { return done == 30; }, &client.requester());
  EXPECT_EQ(client.requester().statistics().most_in_flight, 7U);
  CreditWindow window(4);
  EXPECT_TRUE(window.open(1)) << "of a grant of one nothing can be left alone";
}

TEST_F(ConnectionTest, ServerKeepsReceivesForEveryCredit) {
  ServerOptions options;
  options.credits = 16;
  serve(options);
  auto domain = provider->make_domain();
  RawClient client(*provider, *domain, url, {});
  drive([&] { return client.up; });
  for (std::uint32_t round = 0; round < 50; ++round) {
    client.received.clear();
    for (std::uint32_t i = 0; i < 16; ++i)
      client.send(draft_call(round * 16 + i, rpc_call(round * 16 + i, 0)));
    drive([&] { return client.closed || client.received.size() == 16; });
    ASSERT_FALSE(client.closed) << client.reason.detail;
    for (std::size_t i = 0; i < client.received.size(); ++i)
      client.connection->post_receive(MutableView(client.slab).subspan(i * 4096, 4096), i);
  }
}

TEST_F(ConnectionTest, CallsSurviveTheLossOfTheConnection) {
  serve();
  const Bytes data = pattern(300'000);
  const nfs3::FileHandle file = make_file("file", {});
  auto client = connect();
  Requester& requester = client->requester();
  constexpr std::uint32_t kCalls = 60;
  constexpr std::uint32_t kLength = 5000;
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    nfs3::WriteArgs args;
    args.file = file;
    args.offset = i * kLength;
    args.count = kLength;
    args.data = View(data).subspan(i * kLength, kLength);
    requester.submit(client->request(nfs3::Procedure::NFSPROC3_WRITE, args),
                     [&](Expected<CallReply, CallError> reply) {
                       ASSERT_TRUE(reply) << reply.error().message();
                       ++done;
                     });
  }
  drive([&] { return done >= 5; }, &requester);
  requester.abort_connection();
  drive([&] { return done >= 30; }, &requester);
  requester.abort_connection();
  drive([&] { return done == kCalls; }, &requester);
  EXPECT_EQ(requester.statistics().connections, 3U);
  EXPECT_GT(requester.statistics().retransmitted, 0U);
  EXPECT_EQ(content("file"), data);
  drive([&] { return server->connection_count() == 1; }, &requester);
}

TEST_F(ConnectionTest, CallFailsWithoutAListener) {
  serve();
  auto client = connect();
  server.reset();
  const auto reply = client->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, CallErrc::connection_lost) << reply.error().message();
}

/// Keeps silent about arguments that do not decode.
class SilentAboutGarbage final : public Interposer {
 public:
  void on_reply(ReplyStep& step) override {
    wire::Reader reader(step.reply.stream());
    rpc::ReplyHeader header;
    header.decode(reader);
    if (header.accept_status == rpc::AcceptStatus::GARBAGE_ARGS) step.outcome = Outcome::discard;
  }
};

TEST_F(ConnectionTest, DeadlineEndsACallAndClosesItsMemory) {
  ServerOptions options;
  options.interposer = std::make_shared<SilentAboutGarbage>();
  serve(options);
  auto client = connect();
  client->set_timeout(50ms);
  // Arguments that do not decode, and a server that keeps silent about them.
  const auto reply = client->rpc().round_trip(View(rpc_call(1, 1)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, CallErrc::timed_out);
  client->set_timeout(10s);
  EXPECT_TRUE(client->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}));
  EXPECT_EQ(client->requester().pool().loaned_bytes(), 0U);
}

TEST_F(ConnectionTest, ManyClientsAreServedAndGivenBack) {
  serve();
  constexpr std::size_t kClients = 64;
  const Bytes whole = pattern(100'000);
  const nfs3::FileHandle file = make_file("file", whole);
  std::vector<std::unique_ptr<Nfs3Client>> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(connect());
  EXPECT_EQ(server->connection_count(), kClients);
  std::size_t done = 0;
  for (auto& client : clients) {
    for (int i = 0; i < 4; ++i) {
      client->requester().submit(
          client->request(nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, 100'000}),
          [&](Expected<CallReply, CallError> reply) {
            ASSERT_TRUE(reply) << reply.error().message();
            EXPECT_TRUE(std::equal(reply->item.begin(), reply->item.end(), whole.begin()));
            ++done;
          });
    }
  }
  drive([&] {
    for (auto& client : clients) client->requester().step(0ms);
    return done == kClients * 4;
  });
  clients.clear();
  drive([&] { return server->connection_count() == 0; });
}

TEST_F(ConnectionTest, ConnectionsBeyondTheLimitAreRejectedAndLeaveTheOthersAlone) {
  ServerOptions options;
  options.most_connections = 2;
  serve(options);
  auto first = connect();
  auto second = connect();
  auto domain = provider->make_domain();
  RawClient third(*provider, *domain, url, {});
  drive([&] { return third.up || third.closed; });
  EXPECT_FALSE(third.up);
  EXPECT_EQ(third.reason.code, fabric::Errc::rejected);
  EXPECT_TRUE(first->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}));
  EXPECT_EQ(server->statistics().refused_connections, 1U);
}

TEST_F(ConnectionTest, ClientThatExceedsItsCreditsHurtsOnlyItself) {
  ServerOptions options;
  options.credits = 2;
  serve(options);
  const nfs3::FileHandle file = make_file("file", {});
  auto victim = connect();
  auto domain = provider->make_domain();
  RawClient greedy(*provider, *domain, url, {});
  drive([&] { return greedy.up; });
  const auto region = domain->allocate(kGreedyWriteOctets, {true, false});
  send_greedy_writes(greedy, file, *region);
  drive([&] { return greedy.closed || greedy.received.size() >= kTooManyReplies; });
  EXPECT_TRUE(greedy.closed) << "far more calls than credits and receives were taken";
  EXPECT_TRUE(victim->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}));
}

TEST_F(ConnectionTest, CallsWaitForPullMemory) {
  ServerOptions options;
  options.pull_budget_bytes = 300'000;  // one pull of this size at a time
  serve(options);
  auto client = connect();
  Requester& requester = client->requester();
  const Bytes data = pattern(200'000);
  const nfs3::FileHandle file = make_file("file", {});
  std::uint32_t done = 0;
  for (int i = 0; i < 20; ++i) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = static_cast<std::uint32_t>(data.size());
    args.data = data;
    requester.submit(client->request(nfs3::Procedure::NFSPROC3_WRITE, args),
                     [&](Expected<CallReply, CallError> reply) {
                       ASSERT_TRUE(reply) << reply.error().message();
                       ++done;
                     });
  }
  drive([&] { return done == 20; }, &requester);
  EXPECT_EQ(content("file"), data);
  // What can never fit is refused rather than waited for.
  nfs3::WriteArgs args;
  const Bytes large = pattern(500'000);
  args.file = file;
  args.count = static_cast<std::uint32_t>(large.size());
  args.data = large;
  const auto reply = client->call<nfs3::WriteResult>(nfs3::Procedure::NFSPROC3_WRITE, args);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, CallErrc::err_chunk);
}

TEST_F(ConnectionTest, SilentConnectionsAreClosed) {
  ServerOptions options;
  options.idle_timeout = 30ms;
  serve(options);
  auto domain = provider->make_domain();
  RawClient silent(*provider, *domain, url, {});
  drive([&] { return silent.closed; });
  EXPECT_TRUE(silent.up);
  drive([&] { return server->connection_count() == 0; });
}

class TakesEverything final : public Interposer {
 public:
  void on_arrival(const std::shared_ptr<InterposedConnection>& /*connection*/,
                  Arrival& arrival) override {
    arrival.taken = true;
  }
};

TEST_F(ConnectionTest, ServerThatSeesNothingCanStillBeWoken) {
  ServerOptions options;
  options.interposer = std::make_shared<TakesEverything>();
  serve(options);
  auto domain = provider->make_domain();
  RawClient client(*provider, *domain, url, {});
  drive([&] { return client.up; });
  client.send(draft_call(1, rpc_call(1, 0)));
  drive([&] { return server->statistics().messages == 1; });
  provider->wake();
  const auto start = std::chrono::steady_clock::now();
  server->poll(20s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

}  // namespace
}  // namespace steertag::peer::testing
