// How the reference client takes the replies of servers that break a rule: what it must discard,
// what fails the call, and what it bears (RFC 8166 4.5, 6.1).
#include "deviations/server_deviations.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// What becomes of one READ by write chunk, one WRITE by read chunk and one long READDIR.
struct Expectation {
  std::string_view deviation;  // of the server
  std::optional<CallErrc> read;
  std::optional<CallErrc> write;
  std::optional<CallErrc> readdir;
};

constexpr std::optional<CallErrc> kFine;

class ClientTest : public PeerTest, public ::testing::WithParamInterface<Expectation> {
 protected:
  template <class Result, class Args>
  std::optional<CallErrc> outcome(Nfs3Client& client, nfs3::Procedure procedure, const Args& args) {
    const auto result = client.call<Result>(procedure, args);
    if (result) return std::nullopt;
    return result.error().code;
  }
};

TEST_P(ClientTest, TakesOrRefusesReplies) {
  const Expectation& expected = GetParam();
  const nfs3::FileHandle file = make_file("file", pattern(3001));
  for (int i = 0; i < 300; ++i) make_file("name" + std::to_string(i), {});
  const Handle handle = storage->handle(storage->root());
  ServerOptions options;
  deviations::ServerDeviations deviation;
  ASSERT_TRUE(deviation.add(expected.deviation));
  deviation.install(options);
  serve(options);
  const auto fresh = [&] {
    auto client =
        std::make_unique<Nfs3Client>(*provider, url, RequesterOptions{}, next_xid++ << 16);
    client->set_timeout(150ms);
    FormWish wish;
    wish.read_chunk = wish.write_chunk = Use::always;
    wish.segments = 2;
    client->set_wish(wish);
    return client;
  };
  auto client = fresh();
  EXPECT_EQ(outcome<nfs3::ReadResult>(*client, nfs3::Procedure::NFSPROC3_READ,
                                      nfs3::ReadArgs{file, 0, 3001}),
            expected.read)
      << "READ";
  EXPECT_EQ(client->requester().pool().damaged(), 0U);
  client = fresh();
  const Bytes data = pattern(101);
  nfs3::WriteArgs write;
  write.file = file;
  write.count = 101;
  write.data = data;
  EXPECT_EQ(outcome<nfs3::WriteResult>(*client, nfs3::Procedure::NFSPROC3_WRITE, write),
            expected.write)
      << "WRITE";
  client = fresh();
  EXPECT_EQ(
      outcome<nfs3::ReaddirResult>(*client, nfs3::Procedure::NFSPROC3_READDIR,
                                   nfs3::ReaddirArgs{nfs3::FileHandle(View(handle)), 0, {}, 32768}),
      expected.readdir)
      << "READDIR";
}

constexpr auto kDiscarded = CallErrc::timed_out;
constexpr auto kFails = CallErrc::bad_reply;

INSTANTIATE_TEST_SUITE_P(
    All, ClientTest,
    ::testing::Values(Expectation{"reply-vers-two", kDiscarded, kDiscarded, kDiscarded},
                      Expectation{"reply-xid-plus-one", kDiscarded, kDiscarded, kDiscarded},
                      Expectation{"reply-msgp", kDiscarded, kDiscarded, kFine},
                      Expectation{"reply-rpc-xid-differs", kDiscarded, kDiscarded, kFails},
                      Expectation{"read-list-in-reply", kFine, kDiscarded, kFine},
                      Expectation{"nomsg-with-payload", kFine, kFine, kDiscarded},
                      Expectation{"write-list-dropped", kFails, kFine, kFine},
                      Expectation{"write-handle-changed", kFails, kFine, kFine},
                      Expectation{"segments-merged", kFails, kFine, kFine},
                      Expectation{"pad-counted", kFails, kFine, kFine},
                      Expectation{"write-chunk-ignored", kFails, kFine, kFine},
                      Expectation{"reply-chunk-dropped", kFine, kFine, kDiscarded},
                      Expectation{"long-reply-cut", kFine, kFine, CallErrc::bad_results},
                      Expectation{"grants-zero", kFine, kFine, kFine},
                      Expectation{"replies-twice", kFine, kFine, kFine},
                      Expectation{"reply-then-done", kFine, kFine, kFine}),
    [](const auto& row) {
      std::string name(row.param.deviation);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

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
class NoWay final : public fabric::Provider {
 public:
  explicit NoWay(fabric::Provider& its_real) : real(its_real) {}
  fabric::Capabilities capabilities() const override { return real.capabilities(); }
  std::unique_ptr<fabric::Domain> make_domain() override { return real.make_domain(); }
  Expected<std::unique_ptr<fabric::Listener>, fabric::Error> listen(
      const fabric::Url& url, fabric::AcceptCallback on_request,
      fabric::RefusedCallback on_refused) override {
    return real.listen(url, std::move(on_request), std::move(on_refused));
  }
  Expected<std::unique_ptr<fabric::Connection>, fabric::Error> connect(
      const fabric::Url& /*url*/, fabric::Domain& /*domain*/,
      const fabric::ConnectionOptions& /*options*/, fabric::Handler& /*handler*/,
      trace::EventSink* /*events*/, trace::ByteSink* /*bytes*/) override {
    return tl::unexpected(fabric::Error{fabric::Errc::name_not_found, "\"nowhere\""});
  }
  void retire(std::unique_ptr<fabric::Connection> connection) override {
    real.retire(std::move(connection));
  }
  std::size_t poll(std::chrono::milliseconds timeout) override {
    waited += timeout;
    return real.poll(0ms);
  }
  void wake() override { real.wake(); }
  int descriptor() const override { return real.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return real.idle_for(most);
  }

  fabric::Provider& real;
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
