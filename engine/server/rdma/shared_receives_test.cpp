// A server whose connections share a few receives, whatever credits they have.
#include "fabric/testing/forwarding_provider.h"
#include "fabric/testing/provider_suite.h"
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

using fabric::testing::Factory;
using nfs3::Procedure;

class SharedReceivesTest : public PeerTest, public ::testing::WithParamInterface<Factory> {
 protected:
  SharedReceivesTest() {
    provider = GetParam().make({}, {});
    origin = GetParam().name + "://" + GetParam().host;
  }
  void SetUp() override {
    auto domain = provider->make_domain();
    if (!provider->make_receive_queue(*domain)) GTEST_SKIP() << "no shared receive queue";
  }
  void share(std::uint32_t receives, std::uint32_t credits = kDefaultCredits) {
    ServerOptions options;
    options.shared_receives = receives;
    options.credits = credits;
    ASSERT_NO_FATAL_FAILURE(serve(options));
  }
  /// WRITEs by read chunks, which the server pulls, and calls that fit inline, in turns.
  void load(Nfs3Client& client, const nfs3::FileHandle& file, const Bytes& data, int calls,
            std::uint32_t& done) {
    for (int i = 0; i < calls; ++i) {
      const auto count = [&done](const Expected<CallReply, CallError>& reply) {
        ASSERT_TRUE(reply) << reply.error().message();
        ++done;
      };
      nfs3::WriteArgs args;
      args.file = file;
      args.count = static_cast<std::uint32_t>(data.size());
      args.data = data;
      client.requester().submit(client.request(Procedure::NFSPROC3_WRITE, args), count);
      client.requester().submit(
          client.request(Procedure::NFSPROC3_GETATTR, nfs3::GetattrArgs{file}), count);
    }
  }
};

TEST_P(SharedReceivesTest, ManyClientsAreServedFromFewReceives) {
  constexpr std::uint32_t kClients = 32, kReceives = 8;
  constexpr int kCalls = 16;
  ASSERT_NO_FATAL_FAILURE(share(kReceives));
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes data = pattern(10'000);
  std::vector<std::unique_ptr<Nfs3Client>> clients;
  for (std::uint32_t i = 0; i < kClients; ++i) {
    clients.push_back(connect());
    EXPECT_EQ(clients.back()->requester().credits().granted(), kDefaultCredits)
        << "credits stay as they are";
  }
  std::uint32_t done = 0;
  for (auto& client : clients) load(*client, file, data, kCalls, done);
  drive([&] {
    for (auto& client : clients) client->requester().step(0ms);
    return done == kClients * kCalls * 2;
  });
  EXPECT_EQ(server->connection_count(), kClients) << "a connection was lost";
  EXPECT_EQ(content("file"), data);
}

TEST_P(SharedReceivesTest, ACallThatPullsHoldsNoReceive) {
  // Otherwise its RDMA Read Responses would wait behind the next Send for ever.
  ASSERT_NO_FATAL_FAILURE(share(1));
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes data = pattern(200'000);
  auto client = connect();
  std::uint32_t done = 0;
  load(*client, file, data, 15, done);
  drive([&] { return done == 30; }, &client->requester());
  EXPECT_EQ(server->statistics().connections, 1U);
  EXPECT_EQ(content("file"), data);
}

TEST_P(SharedReceivesTest, AClientBeyondItsCreditsLosesItsConnectionAlone) {
  ASSERT_NO_FATAL_FAILURE(share(64, 2));
  const nfs3::FileHandle file = make_file("file", {});
  auto victim = connect();
  auto domain = provider->make_domain();
  RawClient greedy(*provider, *domain, url, {});
  drive([&] { return greedy.up; });
  const auto region = domain->allocate(kGreedyWriteOctets, {true, false});
  send_greedy_writes(greedy, file, *region);
  drive([&] { return greedy.closed || greedy.received.size() >= kTooManyReplies; });
  EXPECT_TRUE(greedy.closed) << "far more calls than credits were taken";
  EXPECT_TRUE(victim->call<nfs3::Void>(Procedure::NFSPROC3_NULL, nfs3::Void{}));
}

TEST_P(SharedReceivesTest, CallsBeyondThePoolWaitAndAreAnswered) {
  ASSERT_NO_FATAL_FAILURE(share(1));
  auto domain = provider->make_domain();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(*provider, *domain, url, Bytes{}));
    drive([&] { return clients.back()->up; });
  }
  constexpr std::uint32_t kCalls = 20;
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) {
    for (auto& client : clients) client->send(draft_call(xid, rpc_call(xid, 0)));
  }
  for (auto& client : clients) drive([&] { return client->received.size() == kCalls; });
}

STEERTAG_OVER_PROVIDERS(SharedReceivesTest);

/// Has everything but a shared receive queue, as verbs does.
class WithoutQueue final : public fabric::testing::ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Expected<std::unique_ptr<fabric::ReceiveQueue>, fabric::Error> make_receive_queue(
      fabric::Domain& domain) override {
    return Provider::make_receive_queue(domain);
  }
};

class NoQueueTest : public PeerTest {};

TEST_F(NoQueueTest, AServerThatCannotShareSaysSo) {
  WithoutQueue without(*provider);
  ServerOptions options;
  options.shared_receives = 8;
  const auto started = Server::start(without, *fabric::parse_url(origin + ":0"),
                                     all_programs(options.clock), options);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, net::Errc::unsupported);
  EXPECT_NE(started.error().message().find("no shared receive queue"), std::string::npos)
      << started.error().message();
}

}  // namespace
}  // namespace steertag::peer::testing
