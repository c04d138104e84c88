// How the reference client takes the replies of servers that break a rule: what it must discard,
// what fails the call, and what it bears (RFC 8166 4.5, 6.1).
#include "peer/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// What becomes of one READ by write chunk, one WRITE by read chunk and one long READDIR.
struct Expectation {
  Deviation deviation;
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
  options.deviations.add(expected.deviation);
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
    ::testing::Values(Expectation{Deviation::reply_vers_two, kDiscarded, kDiscarded, kDiscarded},
                      Expectation{Deviation::reply_xid_plus_one, kDiscarded, kDiscarded,
                                  kDiscarded},
                      Expectation{Deviation::reply_msgp, kDiscarded, kDiscarded, kFine},
                      Expectation{Deviation::reply_rpc_xid_differs, kDiscarded, kDiscarded, kFails},
                      Expectation{Deviation::read_list_in_reply, kFine, kDiscarded, kFine},
                      Expectation{Deviation::nomsg_with_payload, kFine, kFine, kDiscarded},
                      Expectation{Deviation::write_list_dropped, kFails, kFine, kFine},
                      Expectation{Deviation::write_handle_changed, kFails, kFine, kFine},
                      Expectation{Deviation::segments_merged, kFails, kFine, kFine},
                      Expectation{Deviation::pad_counted, kFails, kFine, kFine},
                      Expectation{Deviation::write_chunk_ignored, kFails, kFine, kFine},
                      Expectation{Deviation::reply_chunk_dropped, kFine, kFine, kDiscarded},
                      Expectation{Deviation::long_reply_cut, kFine, kFine, CallErrc::bad_results},
                      Expectation{Deviation::grants_zero, kFine, kFine, kFine},
                      Expectation{Deviation::replies_twice, kFine, kFine, kFine},
                      Expectation{Deviation::reply_then_done, kFine, kFine, kFine}),
    [](const auto& row) {
      std::string name(peer::info(row.param.deviation).name);
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

}  // namespace
}  // namespace steertag::peer::testing
