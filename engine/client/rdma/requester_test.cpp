// The requester's limits, lost connections and pauses.
#include <map>

#include "fabric/testing/forwarding_provider.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// A server that rejects or ends connections.
class Ending final : public Interposer {
 public:
  void on_request(View /*private_data*/, AcceptStep& step) override {
    if (++requests % 2 == 0 && rejects_every_other) step.answer = AcceptStep::Answer::reject;
  }
  void on_accepted(const std::shared_ptr<InterposedConnection>& connection) override {
    if (ends_at_once) connection->abort();
  }
  void on_call(CallStep& call) override {
    const bool is_second = ++calls[call.connection] == 2;
    const bool costs = wire::load_u32(call.message.data()) == costly_xid;
    call.disconnects = costs || (is_second && ends_at_second_call);
  }

  bool rejects_every_other = false;
  bool ends_at_once = false;
  bool ends_at_second_call = false;
  std::optional<std::uint32_t> costly_xid;
  int requests = 0;
  std::map<std::uint64_t, int> calls;  // by connection
};

class RequesterTest : public PeerTest {
 protected:
  /// Makes so many calls, one at a time in flight, of a server with the interposer. The XID of the
  /// first is `first_xid`.
  void call(int count) {
    ServerOptions served;
    served.interposer = ending;
    serve(served);
    RequesterOptions options;
    options.credits = 1;
    options.policy.reconnect_pause = 1ms;
    Nfs3Client client(*provider, url, options, first_xid);
    Requester& requester = client.requester();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(requester.submit(
          client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
          [&](const Expected<CallReply, CallError>& reply) { ++(reply ? replies : failures); }));
    }
    drive([&] { return requester.pending() == 0; }, &requester);
    connections = requester.statistics().connections;
  }

  std::shared_ptr<Ending> ending = std::make_shared<Ending>();
  std::uint32_t first_xid = 100;
  int replies = 0;
  int failures = 0;
  std::uint64_t connections = 0;
};

TEST_F(RequesterTest, CallsBeyondTheLimitAreRefused) {
  serve();
  Nfs3Client client(*provider, url, {}, 1);
  const auto submit = [&] {
    return client.requester().submit(client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
                                     [](const Expected<CallReply, CallError>&) {});
  };
  for (std::size_t i = 0; i < kMostCalls; ++i) ASSERT_TRUE(submit());
  const auto refused = submit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, CallErrc::too_many_calls);
  EXPECT_EQ(client.requester().pending(), kMostCalls);
}

TEST_F(RequesterTest, RefusedConnectionsCountForAllThatWait) {
  serve();
  server.reset();
  Nfs3Client client(*provider, url, {}, 1);
  Requester& requester = client.requester();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(requester.submit(
        client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
        [&](const Expected<CallReply, CallError>& reply) { failures += reply ? 0 : 1; }));
  }
  while (requester.pending() > 0) requester.step(10s);
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(requester.statistics().connections, kMostAttempts);
}

TEST_F(RequesterTest, RejectedConnectionsBetweenGoodOnesDoNotAddUp) {
  constexpr int kCalls = 4 * kMostAttempts;
  ending->rejects_every_other = ending->ends_at_second_call = true;
  call(kCalls);
  EXPECT_EQ(replies, kCalls);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(connections, 2U * kCalls - 1) << "one reply over each second connection";
}

TEST_F(RequesterTest, CallThatCostsTheConnectionFailsAlone) {
  ending->costly_xid = first_xid;
  call(5);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(replies, 4);
  EXPECT_EQ(connections, kMostAttempts + 1);
}

TEST_F(RequesterTest, ServerThatEndsEveryConnectionEndsEveryCall) {
  constexpr int kCalls = 3;
  ending->ends_at_once = true;
  call(kCalls);
  EXPECT_EQ(failures, kCalls);
  EXPECT_EQ(replies, 0);
  EXPECT_LE(connections, kCalls * kMostAttempts) << "each is an attempt of a call at least";
}

/// A provider by which nothing can be reached. It waits for nothing, but counts the time.
class NoWay final : public fabric::testing::ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  Expected<std::unique_ptr<fabric::Connection>, fabric::Error> connect(
      const fabric::Url& /*url*/, fabric::Domain& /*domain*/,
      const fabric::ConnectionOptions& /*options*/, fabric::Handler& /*handler*/,
      trace::EventSink* /*events*/, trace::ByteSink* /*bytes*/) override {
    return tl::unexpected(fabric::Error{fabric::Errc::name_not_found, "\"nowhere\""});
  }
  std::size_t poll(std::chrono::milliseconds timeout) override {
    waited += timeout;
    return ForwardingProvider::poll(0ms);
  }

  std::chrono::milliseconds waited{0};
};

TEST_F(RequesterTest, ConnectionThatCannotBeStartedIsNotWaitedFor) {
  NoWay nowhere(*provider);
  Nfs3Client client(nowhere, url, {}, 1);
  const auto result = client.call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, CallErrc::connection_lost);
  EXPECT_EQ(result.error().detail, "the host name has no address: \"nowhere\"");
  EXPECT_EQ(nowhere.waited.count(), 0) << "milliseconds";
}

}  // namespace
}  // namespace steertag::peer::testing
