// The requester's limits, lost connections and pauses.
#include "fabric/testing/forwarding_provider.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class RequesterTest : public PeerTest {};

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
  int failures = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(requester.submit(
        client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
        [&](const Expected<CallReply, CallError>& reply) { failures += reply ? 0 : 1; }));
  }
  while (requester.pending() > 0) requester.step(10s);
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(requester.statistics().connections, kMostAttempts);
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
