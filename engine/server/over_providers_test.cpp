// The reference client and server over every provider.
// Each form of a message, memory that the server closes, and what follows a lost connection.
#include "fabric/testing/provider_suite.h"
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

using fabric::testing::Factory;
using nfs3::Procedure;

class OverProvidersTest : public PeerTest, public ::testing::WithParamInterface<Factory> {
 protected:
  OverProvidersTest() {
    provider = GetParam().make({}, {});
    origin = GetParam().name + "://" + GetParam().host;
  }
  void SetUp() override {
    serve();
    client = connect();
  }
  /// A peer may close memory of ours, by one means or the other.
  bool closes() const {
    const fabric::Capabilities can = provider->capabilities();
    return can.remote_invalidation || can.windows;
  }
  template <class Result, class Args>
  Result call(Procedure procedure, const Args& args) {
    auto result = client->call<Result>(procedure, args);
    EXPECT_TRUE(result) << rpc::name(procedure) << ": " << result.error().message();
    return result ? *result : Result{};
  }
  void move_by_chunks(std::uint32_t segments) {
    FormWish wish;
    wish.read_chunk = wish.write_chunk = Use::always;
    wish.segments = segments;
    client->set_wish(wish);
  }
  void write(const nfs3::FileHandle& file, const Bytes& data) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = static_cast<std::uint32_t>(data.size());
    args.data = data;
    EXPECT_EQ(call<nfs3::WriteResult>(Procedure::NFSPROC3_WRITE, args).ok.count, data.size());
  }

  std::unique_ptr<Nfs3Client> client;
};

TEST_P(OverProvidersTest, Null) {
  EXPECT_TRUE(client->call<nfs3::Void>(Procedure::NFSPROC3_NULL, nfs3::Void{}));
  EXPECT_EQ(client->requester().negotiated().remote_invalidation, closes());
  EXPECT_EQ(client->requester().credits().granted(), kDefaultCredits);
}

TEST_P(OverProvidersTest, DataByChunks) {
  const nfs3::FileHandle file = make_file("file", {});
  for (const std::uint32_t segments : {1U, 3U}) {
    for (const std::size_t size : {1U, 4097U, 70001U, 1U << 20}) {
      move_by_chunks(segments);
      const Bytes data = pattern(size, segments);
      write(file, data);
      EXPECT_EQ(client->rpc().last_remotely_invalidated(), closes()) << "WRITE of " << size;
      const auto length = static_cast<std::uint32_t>(size);
      const auto read =
          call<nfs3::ReadResult>(Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, length});
      EXPECT_EQ(client->rpc().last_remotely_invalidated(), closes()) << "READ of " << size;
      EXPECT_TRUE(copy(read.ok.data) == data) << size << " octets in " << segments << " segments";
    }
  }
  EXPECT_EQ(client->requester().pool().damaged(), 0U);
}

TEST_P(OverProvidersTest, DataInline) {
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes data = pattern(1000);
  write(file, data);
  EXPECT_TRUE(content("file") == data);
  EXPECT_FALSE(client->rpc().last_remotely_invalidated());
}

TEST_P(OverProvidersTest, LongReply) {
  for (int i = 0; i < 300; ++i) make_file("name" + std::to_string(i), {});
  const auto listing =
      call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR, nfs3::ReaddirArgs{root, 0, {}, 32768});
  EXPECT_GT(listing.ok.entries.items.size(), 300U);
  EXPECT_EQ(client->rpc().last_remotely_invalidated(), closes());
}

TEST_P(OverProvidersTest, ManyCallsAtATime) {
  const std::uint32_t calls = GetParam().loses ? 20 : 200;
  constexpr std::uint32_t kBytes = 10000;
  const Bytes data = pattern(calls * kBytes);
  const nfs3::FileHandle file = make_file("file", data);
  move_by_chunks(2);
  Requester& requester = client->requester();
  std::uint32_t right = 0;
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < calls; ++i) {
    const View expected = View(data).subspan(std::size_t{i} * kBytes, kBytes);
    Request request = client->request(Procedure::NFSPROC3_READ,
                                      nfs3::ReadArgs{file, std::uint64_t{i} * kBytes, kBytes});
    request.wish.write_chunk = Use::always;
    ASSERT_TRUE(requester.submit(std::move(request), [&, expected](const auto& reply) {
      ++done;
      right += reply && std::ranges::equal(reply->item, expected) ? 1 : 0;
    }));
  }
  // The limit of `drive` is for one reply: an emulated device takes some seconds for them all.
  for (std::uint32_t replies = 1; replies <= calls && !HasFatalFailure(); ++replies) {
    drive([&] { return done >= replies; }, &requester);
  }
  EXPECT_EQ(right, calls);
  EXPECT_GT(requester.statistics().most_in_flight, 1U);
}

TEST_P(OverProvidersTest, CallsGoOnAfterALostConnection) {
  const Bytes data = pattern(50000);
  const nfs3::FileHandle file = make_file("file", data);
  for (int i = 0; i < 3; ++i) {
    move_by_chunks(1);
    const auto read =
        call<nfs3::ReadResult>(Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, 50000});
    EXPECT_TRUE(copy(read.ok.data) == data);
    client->requester().abort_connection();
  }
  EXPECT_EQ(client->requester().statistics().connections, 3U);
}

/// A call whose chunk is in memory that is not open. It loses its connection, and is sent again.
/// RFC 8166 4.5.3 ends the loop.
class DeniedMemoryTest : public OverProvidersTest {
 protected:
  static constexpr std::uint32_t kOctets = 5000;
  static constexpr std::uint32_t kXid = 0x12345678;
  static constexpr wire::Segment kNowhere{0xdeadbeef, kOctets, 0};

  void expect_err_chunk_at_the_retry(const wire::Draft& draft) {
    if (!provider->capabilities().sees_violations) {
      GTEST_SKIP() << "the end does not show that memory was denied";
    }
    const auto domain = provider->make_domain();
    {
      RawClient first(*provider, *domain, url, Bytes{});
      drive([&] { return first.up || first.closed; });
      first.send(draft);
      drive([&] { return first.closed; });
      drive([&] { return server->connection_count() == 1; });
    }
    RawClient second(*provider, *domain, url, Bytes{});
    drive([&] { return second.up || second.closed; });
    second.send(draft);
    drive([&] { return second.closed || !second.received.empty(); });
    ASSERT_EQ(second.received.size(), 1U) << second.reason.detail;
    wire::Header header;
    ASSERT_TRUE(wire::decode(second.received[0].octets, header));
    EXPECT_EQ(header.xid, kXid);
    EXPECT_EQ(header.proc, wire::Procedure::error);
    EXPECT_EQ(header.error, wire::ErrorCode::chunk);
  }
};

TEST_P(DeniedMemoryTest, OfAWriteChunk) {
  const nfs3::FileHandle file = make_file("file", pattern(kOctets));
  constexpr std::uint32_t kRead = 6;
  wire::Draft draft =
      draft_call(kXid, rpc_call(kXid, kRead, encoded(nfs3::ReadArgs{file, 0, kOctets})));
  draft.write_list.push_back({1, {}, {kNowhere}, false});
  expect_err_chunk_at_the_retry(draft);
}

TEST_P(DeniedMemoryTest, OfAReadChunk) {
  const Bytes data = pattern(kOctets);
  nfs3::WriteArgs args;
  args.file = make_file("file", {});
  args.count = kOctets;
  args.data = data;
  constexpr std::uint32_t kWrite = 7;
  Bytes payload = rpc_call(kXid, kWrite, encoded(args));
  payload.resize(payload.size() - kOctets);
  wire::Draft draft = draft_call(kXid, payload);
  draft.read_list.push_back({1, {static_cast<std::uint32_t>(payload.size()), kNowhere}, false});
  expect_err_chunk_at_the_retry(draft);
  EXPECT_TRUE(content("file").empty());
}

STEERTAG_OVER_PROVIDERS(OverProvidersTest);
STEERTAG_OVER_PROVIDERS(DeniedMemoryTest);

}  // namespace
}  // namespace steertag::peer::testing
