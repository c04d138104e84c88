// Every form of message between the reference client and the reference server over loopback iWARP.
// Inline, chunked and long, at sizes around the thresholds and around roundup.
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class FormsTest : public PeerTest {
 protected:
  void SetUp() override { serve(); }

  void check_read(Nfs3Client& client, const nfs3::FileHandle& file, const Bytes& whole,
                  std::uint64_t offset, std::uint32_t count) {
    const auto read = client.call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                    nfs3::ReadArgs{file, offset, count});
    ASSERT_TRUE(read) << read.error().message();
    ASSERT_EQ(read->status, nfs3::Status::NFS3_OK);
    const std::size_t expected =
        offset >= whole.size() ? 0 : std::min<std::size_t>(count, whole.size() - offset);
    ASSERT_EQ(read->ok.count, expected);
    ASSERT_EQ(read->ok.eof, offset + expected >= whole.size());
    ASSERT_EQ(copy(read->ok.data),
              copy(View(whole).subspan(std::min<std::size_t>(offset, whole.size()), expected)));
  }

  void check_write(Nfs3Client& client, const nfs3::FileHandle& file, std::string_view name,
                   const Bytes& data) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = static_cast<std::uint32_t>(data.size());
    args.stable = nfs3::StableHow::FILE_SYNC;
    args.data = data;
    const auto written = client.call<nfs3::WriteResult>(nfs3::Procedure::NFSPROC3_WRITE, args);
    ASSERT_TRUE(written) << written.error().message();
    ASSERT_EQ(written->status, nfs3::Status::NFS3_OK);
    ASSERT_EQ(written->ok.count, data.size());
    Bytes found = content(name);
    found.resize(std::min(found.size(), data.size()));
    ASSERT_EQ(found, data);
  }
};

TEST_F(FormsTest, NullCallIsAnswered) {
  auto client = connect();
  const auto reply = client->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{});
  ASSERT_TRUE(reply) << reply.error().message();
  EXPECT_EQ(client->rpc().last_header().credit, kDefaultCredits);
}

constexpr std::uint32_t kSizes[] = {
    0,    1,    2,    3,    4,    5,    511,  900,   1000,  1023,  1024,   1025,    3900,   3960,
    3964, 3968, 3972, 4000, 4096, 4097, 8191, 65535, 65536, 65537, 262147, 1048573, 1048576};

TEST_F(FormsTest, ReadOfEverySizeGivesTheFilesOctets) {
  const Bytes whole = pattern(1'200'003);
  const nfs3::FileHandle file = make_file("file", whole);
  auto client = connect();
  for (const Use use : {Use::when_needed, Use::always, Use::never}) {
    for (const std::uint32_t segments : {1U, 2U, 3U, 16U}) {
      FormWish wish;
      wish.write_chunk = use;
      wish.segments = segments;
      client->set_wish(wish);
      for (const std::uint32_t size : kSizes) {
        SCOPED_TRACE(::testing::Message() << "size " << size << " segments " << segments
                                          << " write chunk " << static_cast<int>(use));
        ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 0, size));
      }
      ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, whole.size() - 100, 4096));
      ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, whole.size(), 4096));
      ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, whole.size() + 5000, 4096));
      ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 65533, 70007));
    }
  }
}

TEST_F(FormsTest, WriteOfEverySizeStoresTheOctets) {
  const nfs3::FileHandle file = make_file("file", {});
  auto client = connect();
  std::uint32_t seed = 100;
  for (const Use use : {Use::when_needed, Use::always, Use::never}) {
    for (const Use long_call : {Use::when_needed, Use::always}) {
      for (const std::uint32_t segments : {1U, 3U, 16U}) {
        FormWish wish;
        wish.read_chunk = use;
        wish.long_call = long_call;
        wish.segments = segments;
        wish.roundup_in_read_chunk = segments == 3;
        client->set_wish(wish);
        for (const std::uint32_t size : kSizes) {
          SCOPED_TRACE(::testing::Message()
                       << "size " << size << " segments " << segments << " read chunk "
                       << static_cast<int>(use) << " long " << static_cast<int>(long_call));
          ASSERT_NO_FATAL_FAILURE(check_write(*client, file, "file", pattern(size, ++seed)));
        }
      }
    }
  }
}

TEST_F(FormsTest, LongReplyCarriesAListing) {
  for (int i = 0; i < 300; ++i) make_file("a-name-that-takes-some-room-" + std::to_string(i), {});
  auto client = connect();
  for (const std::uint32_t segments : {1U, 7U}) {
    FormWish wish;
    wish.segments = segments;
    client->set_wish(wish);
    const auto listed = client->call<nfs3::ReaddirplusResult>(
        nfs3::Procedure::NFSPROC3_READDIRPLUS, nfs3::ReaddirplusArgs{root, 0, {}, 65536, 65536});
    ASSERT_TRUE(listed) << listed.error().message();
    ASSERT_EQ(listed->status, nfs3::Status::NFS3_OK);
    EXPECT_EQ(listed->ok.entries.items.size(), 302U);
    EXPECT_TRUE(listed->ok.eof);
    EXPECT_EQ(client->rpc().last_header().proc, wire::Procedure::nomsg);
  }
}

TEST_F(FormsTest, UnusedChunksComeBackWithZeroLengths) {
  auto client = connect();
  FormWish wish;
  wish.write_chunk = Use::always;
  wish.reply_chunk = Use::always;
  wish.segments = 4;
  client->set_wish(wish);
  const auto read =
      client->call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{root, 0, 4096});
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->status, nfs3::Status::NFS3ERR_ISDIR);
  const wire::Header& header = client->rpc().last_header();
  ASSERT_EQ(header.write_list.size(), 1U);
  EXPECT_EQ(header.write_list[0].size(), 4U);
  EXPECT_EQ(wire::chunk_length(header.write_list[0]), 0U);
  ASSERT_TRUE(header.has_reply_chunk);
  EXPECT_EQ(header.reply_chunk.size(), 4U);
  EXPECT_EQ(wire::chunk_length(header.reply_chunk), 0U);
}

TEST_F(FormsTest, EmptyWriteChunkBringsTheResultInline) {
  auto client = connect();
  FormWish wish;
  wish.empty_write_chunk = true;
  client->set_wish(wish);
  const Bytes whole = pattern(301);
  const nfs3::FileHandle file = make_file("file", whole);
  ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 0, 301));
  ASSERT_EQ(client->rpc().last_header().write_list.size(), 1U);
  EXPECT_TRUE(client->rpc().last_header().write_list[0].empty());
}

TEST_F(FormsTest, LinkTextTravelsInEveryForm) {
  auto client = connect();
  int number = 0;
  for (const Use use : {Use::when_needed, Use::always}) {
    for (const std::size_t length : {1U, 2U, 3U, 4U, 255U, 1024U}) {
      FormWish wish;
      wish.read_chunk = wish.write_chunk = use;
      wish.segments = 2;
      client->set_wish(wish);
      const std::string text(length, 'x');
      const std::string name = "link" + std::to_string(++number);
      nfs3::SymlinkArgs args;
      args.where = {root, name};
      args.symlink.symlink_data = text;
      const auto made = client->call<nfs3::SymlinkResult>(nfs3::Procedure::NFSPROC3_SYMLINK, args);
      ASSERT_TRUE(made) << made.error().message();
      ASSERT_EQ(made->status, nfs3::Status::NFS3_OK);
      const auto read = client->call<nfs3::ReadlinkResult>(
          nfs3::Procedure::NFSPROC3_READLINK, nfs3::ReadlinkArgs{made->ok.obj.value()});
      ASSERT_TRUE(read) << read.error().message();
      EXPECT_EQ(read->ok.data, text);
    }
  }
}

TEST_F(FormsTest, RemoteInvalidationNeedsBothSides) {
  const nfs3::FileHandle file = make_file("file", pattern(5000));
  for (const bool ours : {true, false}) {
    RequesterOptions options;
    options.announced.remote_invalidation = ours;
    auto client = connect(options);
    const auto read = client->call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                     nfs3::ReadArgs{file, 0, 5000});
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(client->rpc().last_remotely_invalidated(), ours);
    EXPECT_EQ(client->requester().statistics().remote_invalidations, ours ? 1U : 0U);
    EXPECT_EQ(client->requester().pool().loaned_bytes(), 0U) << "memory was not given back";
  }
}

TEST_F(FormsTest, ThresholdsComeFromPrivateData) {
  const Bytes whole = pattern(20000);
  const nfs3::FileHandle file = make_file("file", whole);
  for (const std::uint32_t bytes : {1024U, 2048U, 16384U}) {
    RequesterOptions options;
    options.announced = {false, bytes, bytes};
    auto client = connect(options);
    EXPECT_EQ(client->requester().negotiated().to_client_bytes, std::min(bytes, 4096U));
    ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 0, 20000));
    ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 7, 900));
  }
  RequesterOptions options;
  options.sends_private_data = false;
  auto client = connect(options);
  EXPECT_EQ(client->requester().negotiated().to_client_bytes, 1024U);
  ASSERT_NO_FATAL_FAILURE(check_read(*client, file, whole, 0, 20000));
}

}  // namespace
}  // namespace steertag::peer::testing
