// How the reference client takes the replies of servers that break a rule (RFC 8166 4.5, 6.1).
// Some it must discard, some fail the call, and some it tolerates.
#include "deviations/server/server_deviations.h"
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

class DeviatingReplyTest : public PeerTest, public ::testing::WithParamInterface<Expectation> {
 protected:
  template <class Result, class Args>
  std::optional<CallErrc> outcome(Nfs3Client& client, nfs3::Procedure procedure, const Args& args) {
    const auto result = client.call<Result>(procedure, args);
    if (result) return std::nullopt;
    return result.error().code;
  }
};

TEST_P(DeviatingReplyTest, TakesOrRefusesReplies) {
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
    All, DeviatingReplyTest,
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

}  // namespace
}  // namespace steertag::peer::testing
