// How a READ's data reaches the requester.
// There is memory that stays registered, and data that is placed by the reply's XID.
#include <algorithm>

#include "fabric/testing/endpoint.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kInlineBytes = 66'560;
constexpr std::uint32_t kOctets = 65'536;

/// A reply of the server in one piece, as it would leave. True: what leaves is up to the callee.
using Bend = std::function<bool(InterposedConnection&, Bytes message, std::uint32_t call_xid)>;

class Bender final : public Interposer {
 public:
  Bend bend;

 private:
  bool on_departure(const std::shared_ptr<InterposedConnection>& connection,
                    const Departure& departure) override {
    if (departure.kind != Departure::Kind::reply || !bend) return false;
    Bytes message;
    for (const View part : departure.parts) message.insert(message.end(), part.begin(), part.end());
    return bend(*connection, std::move(message), departure.call->xid);
  }
};

class TransferModesTest : public PeerTest {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.announced = {true, kInlineBytes, kInlineBytes};
    options.interposer = bender;
    serve(options);
    whole = pattern(200'003);
    file = make_file("file", whole);
  }

  static RequesterOptions cached() {
    RequesterOptions options;
    options.registration = Registration::cached;
    return options;
  }
  static RequesterOptions pre_posted() {
    RequesterOptions options;
    options.announced = {true, kInlineBytes, kInlineBytes};
    options.pre_posts = true;
    return options;
  }

  Expected<Bytes, CallError> read(Nfs3Client& client, std::uint64_t offset, std::uint32_t count) {
    const auto result = client.call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                      nfs3::ReadArgs{file, offset, count});
    if (!result) return tl::unexpected(result.error());
    return copy(result->ok.data);
  }
  void expect_read(Nfs3Client& client, std::uint64_t offset, std::uint32_t count) {
    const auto data = read(client, offset, count);
    ASSERT_TRUE(data) << data.error().message();
    const std::size_t left = offset < whole.size() ? whole.size() - offset : 0;
    const std::size_t expected = std::min<std::size_t>(count, left);
    ASSERT_TRUE(std::ranges::equal(*data, View(whole).last(left).first(expected)))
        << count << " octets from " << offset;
  }
  static std::uint64_t placed(Nfs3Client& client) { return client.requester().statistics().placed; }

  std::shared_ptr<Bender> bender = std::make_shared<Bender>();
  Bytes whole;
  nfs3::FileHandle file;
};

// --- a registration cache

std::uint32_t offered_stag(Nfs3Client& client) {
  const wire::Header& header = client.rpc().last_header();
  return header.write_list.empty() ? 0 : header.write_list[0].front().handle;
}

TEST_F(TransferModesTest, CachedStagStaysOpenOverCalls) {
  auto client = connect(cached());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  const std::uint32_t first = offered_stag(*client);
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, kOctets, kOctets));
  EXPECT_NE(first, 0U);
  EXPECT_EQ(offered_stag(*client), first) << "another STag, although the memory is alike";
  EXPECT_EQ(client->requester().pool().loaned_bytes(), 0U) << "memory was not given back";
}

TEST_F(TransferModesTest, StagsOfOneCallDifferByDefault) {
  auto client = connect();
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  const std::uint32_t first = offered_stag(*client);
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_NE(offered_stag(*client), first);
}

// ODAFS-38.
TEST_F(TransferModesTest, CachedRegistrationClearsTheRFlag) {
  auto client = connect(cached());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_FALSE(client->requester().negotiated().remote_invalidation);
  EXPECT_EQ(client->requester().statistics().remote_invalidations, 0U);
}

// ODAFS-38: without leave, and for memory that later calls may have.
TEST_F(TransferModesTest, InvalidationOfCachedMemoryEndsTheConnection) {
  for (const bool refuses : {true, false}) {
    RequesterOptions options = cached();
    options.policy.memory.refuses_invalidation = refuses;
    auto client = connect(options);
    ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
    const std::uint32_t first = offered_stag(*client);
    bool invalidates = true;
    bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
      if (!std::exchange(invalidates, false)) return false;
      EXPECT_TRUE(connection.send(std::move(message), first));
      return true;
    };
    // Its RDMA Writes did not come, so that only a connection that goes on can give octets.
    (void)read(*client, 0, kOctets);
    bender->bend = nullptr;
    EXPECT_EQ(client->requester().statistics().connections, refuses ? 2U : 1U);
    ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
    EXPECT_NE(offered_stag(*client), first);
  }
}

// ODAFS-37: the STag is that of a loan with other octets and rights.
TEST_F(TransferModesTest, MemoryForAnotherUseIsClosedFirst) {
  auto client = connect(cached());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  const std::uint32_t first = offered_stag(*client);
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets - 1));
  const std::uint32_t second = offered_stag(*client);
  EXPECT_NE(second, first) << "one octet more is open than was asked for";
  bool refused = false;
  bender->bend = [&](InterposedConnection& connection, Bytes, std::uint32_t) {
    refused = connection.write(Bytes(4), first, 0).has_value();
    return false;
  };
  (void)read(*client, 0, kOctets - 1);
  EXPECT_TRUE(refused);
  EXPECT_GT(client->requester().statistics().connections, 1U)
      << "an RDMA Write to memory with another use was taken";
}

TEST_F(TransferModesTest, ALostConnectionClosesWhatWasOpen) {
  auto client = connect(cached());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  const std::uint32_t first = offered_stag(*client);
  Requester& requester = client->requester();
  requester.abort_connection();
  // No call is under way that would close its own memory.
  ASSERT_NO_FATAL_FAILURE(drive([&] { return !requester.up(); }, &requester));
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_NE(offered_stag(*client), first);
}

TEST_F(TransferModesTest, AReplyThatBreaksARuleClosesItsMemory) {
  auto client = connect(cached());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  const std::uint32_t first = offered_stag(*client);
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    // The length of the returned write chunk: 16 octets, no read list, a write list of one segment.
    wire::store_u32(message.data() + 32, 1);
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  EXPECT_FALSE(read(*client, 0, kOctets));
  bender->bend = nullptr;
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_NE(offered_stag(*client), first);
}

// --- pre-posted

TEST_F(TransferModesTest, DataIsPlacedByXid) {
  auto client = connect(pre_posted());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 3, 4097));
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 7, 1026));
  EXPECT_EQ(placed(*client), 3U);
  EXPECT_TRUE(client->rpc().last_header().write_list.empty()) << "no memory is offered";
  EXPECT_EQ(client->requester().pool().loaned_bytes(), 0U) << "memory was not given back";
}

TEST_F(TransferModesTest, RepliesOfManyCallsFindTheirBuffers) {
  auto client = connect(pre_posted());
  constexpr std::uint32_t kCalls = 8;
  std::uint32_t right = 0;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    const std::uint64_t offset = 20'000 * i;
    const auto check = [this, offset, &right](const Expected<CallReply, CallError>& reply) {
      ASSERT_TRUE(reply) << reply.error().message();
      right += std::ranges::equal(reply->item, View(whole).subspan(offset, 20'000)) ? 1 : 0;
    };
    ASSERT_TRUE(client->requester().submit(
        client->request(nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, offset, 20'000}),
        check));
  }
  ASSERT_NO_FATAL_FAILURE(
      drive([&] { return client->requester().pending() == 0; }, &client->requester()));
  EXPECT_EQ(right, kCalls);
  EXPECT_EQ(placed(*client), kCalls);
}

// ODAFS-39: other lengths and errors.
TEST_F(TransferModesTest, ShortAndFailedReadsGoTheOrdinaryWay) {
  auto client = connect(pre_posted());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, whole.size() - 5000, kOctets));
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, whole.size(), 4096));
  const auto refused = client->call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                      nfs3::ReadArgs{root, 0, kOctets});
  ASSERT_TRUE(refused) << refused.error().message();
  EXPECT_EQ(refused->status, nfs3::Status::NFS3ERR_ISDIR);
  EXPECT_EQ(placed(*client), 0U);
}

// ODAFS-39: the payload of a reply under an XID that is none of ours.
TEST_F(TransferModesTest, AnUnknownXidIsPlacedNowhere) {
  auto client = connect(pre_posted());
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t xid) {
    Bytes foreign = message;
    std::ranges::fill(MutableView(foreign).subspan(300), std::byte{0x66});
    wire::store_u32(foreign.data(), xid + 77);
    wire::store_u32(foreign.data() + wire::kSmallestHeaderBytes, xid + 77);
    EXPECT_TRUE(connection.send(std::move(foreign)));
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_EQ(placed(*client), 1U);
  EXPECT_EQ(client->requester().statistics().discarded, 1U);
}

// ODAFS-40: all that the head says is right, and the message is not as long.
TEST_F(TransferModesTest, AMessageOfAnotherLengthIsJudgedAsAWhole) {
  auto client = connect(pre_posted());
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    message.resize(message.size() - 8);
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  const auto cut = read(*client, 0, kOctets);
  ASSERT_FALSE(cut) << "octets of a reply that is too short";
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    message.resize(message.size() + 8);
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  ASSERT_FALSE(read(*client, 0, kOctets)) << "octets of a reply that is too long";
  EXPECT_EQ(placed(*client), 0U);
  bender->bend = nullptr;
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
}

// ODAFS-40: a roundup that is not zero.
TEST_F(TransferModesTest, ARoundupWithOtherOctetsIsJudgedAsAWhole) {
  auto client = connect(pre_posted());
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    message.back() = std::byte{1};
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  (void)read(*client, 0, 4097);
  EXPECT_EQ(placed(*client), 0U);
}

// ODAFS-40: the count of READ3resok is another than that of its data.
TEST_F(TransferModesTest, AWrongCountGivesNoData) {
  auto client = connect(pre_posted());
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    const std::size_t data = message.size() - 4096;
    wire::store_u32(message.data() + data - 4, 4092);
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  EXPECT_FALSE(read(*client, 0, 4096));
  EXPECT_EQ(placed(*client), 0U);
}

// ODAFS-40: the connection ends inside a message, whose octets have been placed.
TEST_F(TransferModesTest, ACutMessageIsCalledForAgain) {
  auto client = connect(pre_posted());
  int sent = 0;
  fabric::Fault cut;
  cut.cut_after = 30'000;
  bender->bend = [&](InterposedConnection& connection, Bytes message, std::uint32_t) {
    if (sent++ > 0) return false;
    std::ranges::fill(MutableView(message).subspan(300), std::byte{0x66});
    EXPECT_TRUE(connection.send(std::move(message), {}, &cut));
    return true;
  };
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, kOctets));
  EXPECT_EQ(sent, 2);
  EXPECT_EQ(client->requester().statistics().connections, 2U);
}

TEST_F(TransferModesTest, RdmaErrorOfAPrePostedCallIsReported) {
  auto client = connect(pre_posted());
  bender->bend = [&](InterposedConnection& connection, Bytes, std::uint32_t xid) {
    wire::Header error;
    error.xid = xid;
    error.credit = 1;
    error.proc = wire::Procedure::error;
    error.error = wire::ErrorCode::chunk;
    Bytes message;
    wire::encode(error, message);
    EXPECT_TRUE(connection.send(std::move(message)));
    return true;
  };
  const auto failed = read(*client, 0, kOctets);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, CallErrc::err_chunk);
  EXPECT_EQ(placed(*client), 0U);
}

TEST_F(TransferModesTest, WhatDoesNotFitInlineTakesAChunk) {
  auto client = connect(pre_posted());
  ASSERT_NO_FATAL_FAILURE(expect_read(*client, 0, 100'000));
  EXPECT_EQ(client->rpc().last_header().write_list.size(), 1U);
  EXPECT_EQ(placed(*client), 0U);
}

}  // namespace
}  // namespace steertag::peer::testing
