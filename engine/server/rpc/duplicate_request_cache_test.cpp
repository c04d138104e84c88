// Calls that are sent again because their reply was lost: executed once, and only then.
#include "server/rpc/duplicate_request_cache.h"

#include "nfs/v4/compound.h"
#include "server/testing/stream_fixture.h"
#include "server/v4/nfs4_program.h"

namespace steertag::peer::testing {
namespace {

Bytes octets(std::string_view text) {
  const View view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

class DuplicateRequestCacheTest : public ::testing::Test {
 protected:
  static ConnectionInfo from(std::uint64_t connection, std::string host = "192.0.2.1") {
    return {connection, true, std::move(host), {}};
  }
  /// Whether the call would be executed.
  bool is_new(std::string_view call, const ConnectionInfo& info) {
    return calls.find(octets(call), info) == nullptr;
  }
  void keep(std::string_view call, const ConnectionInfo& info, std::string_view reply = "reply") {
    calls.keep(octets(call), info, octets(reply));
  }

  std::chrono::steady_clock::time_point now{std::chrono::hours{1}};
  DuplicateRequestCache calls{[this] { return now; }};
};

TEST_F(DuplicateRequestCacheTest, ARetryIsTheSameCallOverAnotherConnectionOfTheHost) {
  keep("call", from(1));
  const Bytes* reply = calls.find(octets("call"), from(2));
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(*reply, octets("reply"));
  EXPECT_TRUE(is_new("call", from(1))) << "a call is not retransmitted on its own connection";
  EXPECT_TRUE(is_new("call", from(2, "192.0.2.2")));
  EXPECT_TRUE(is_new("cal", from(2)));
  EXPECT_TRUE(is_new("calm", from(2)));
}

TEST_F(DuplicateRequestCacheTest, TheLastReplyCounts) {
  keep("call", from(1), "old");
  keep("call", from(1), "new");
  EXPECT_EQ(*calls.find(octets("call"), from(2)), octets("new"));
}

TEST_F(DuplicateRequestCacheTest, APolicyMayKeepNothingOrAskForThePort) {
  ConnectionInfo first = from(1), same_port = from(2), other_port = from(3);
  first.peer_port = same_port.peer_port = 700;
  other_port.peer_port = 701;
  const auto call = octets("call"), reply = octets("reply");
  DuplicateRequestCache nothing([this] { return now; }, {.keeps_replies = false});
  nothing.keep(call, first, reply);
  EXPECT_EQ(nothing.find(call, same_port), nullptr);
  DuplicateRequestCache by_port([this] { return now; }, {.takes_any_port = false});
  by_port.keep(call, first, reply);
  EXPECT_NE(by_port.find(call, same_port), nullptr);
  EXPECT_EQ(by_port.find(call, other_port), nullptr);
}

TEST_F(DuplicateRequestCacheTest, APolicyMayTakeOneCallForAnother) {
  DuplicateRequestCache by_xid([this] { return now; }, {.compares_calls = false});
  by_xid.keep(octets("1234 one"), from(1), octets("first"));
  ASSERT_NE(by_xid.find(octets("1234 two"), from(2)), nullptr);
  EXPECT_EQ(by_xid.find(octets("1235 one"), from(2)), nullptr);
  DuplicateRequestCache last([this] { return now; }, {.gives_own_reply = false});
  last.keep(octets("1234 one"), from(1), octets("1234 first"));
  last.keep(octets("5678 two"), from(1), octets("5678 second"));
  ASSERT_NE(last.find(octets("1234 one"), from(2)), nullptr);
  EXPECT_EQ(*last.find(octets("1234 one"), from(2)), octets("1234 second"));
}

TEST_F(DuplicateRequestCacheTest, RepliesAreForgottenInTime) {
  keep("call", from(1));
  now += kKeptReplyLifetime - 1s;
  EXPECT_FALSE(is_new("call", from(2)));
  now += 1s;
  EXPECT_TRUE(is_new("call", from(2)));
}

TEST_F(DuplicateRequestCacheTest, NumberAndOctetsHaveLimits) {
  for (std::size_t i = 0; i <= kMostKeptReplies; ++i) keep("call " + std::to_string(i), from(1));
  EXPECT_TRUE(is_new("call 0", from(2))) << "the oldest had to go";
  EXPECT_FALSE(is_new("call 1", from(2)));
  const std::string large(kLargestKeptCall - 5, 'x');
  keep(large, from(1));
  EXPECT_FALSE(is_new(large, from(2)));
  keep(large + "y", from(1));
  EXPECT_TRUE(is_new(large + "y", from(2)));
  for (std::size_t i = 0; i < kMostKeptReplyBytes / kLargestKeptCall; ++i)
    keep(std::string(kLargestKeptCall - 20, 'z') + std::to_string(i), from(1));
  EXPECT_TRUE(is_new("call 1", from(2))) << "their octets have no limit";
}

constexpr std::uint32_t kMkdir = 9;

class RepeatedCallTest : public StreamTest {
 protected:
  void SetUp() override {
    serve_all();
    root_handle = storage->handle(storage->root());
  }
  Bytes mkdir(std::uint32_t xid, std::string_view name) {
    nfs3::MkdirArgs args;
    args.where = {nfs3::FileHandle(View(root_handle)), name};
    return rpc_call(xid, kMkdir, encoded(args));
  }
  /// What the server answers over a connection of its own.
  Bytes answer(View call) {
    RawStream stream(tcp_url);
    stream.send_record(call);
    drive([&] {
      stream.pump();
      return stream.records.size() == 1;
    });
    return stream.records.empty() ? Bytes() : stream.records[0];
  }
  nfs3::Status status_of(View reply) {
    wire::Reader reader(reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    nfs3::MkdirResult result;
    result.decode(reader);
    EXPECT_TRUE(reader.ok());
    return result.status;
  }

  Handle root_handle{};
};

TEST_F(RepeatedCallTest, ARetryAfterReconnectGetsTheFirstReply) {
  const Bytes first = answer(mkdir(7, "made"));
  EXPECT_EQ(status_of(first), nfs3::Status::NFS3_OK);
  EXPECT_EQ(answer(mkdir(7, "made")), first) << "the call was executed twice";
  EXPECT_EQ(status_of(answer(mkdir(8, "made"))), nfs3::Status::NFS3ERR_EXIST)
      << "another XID is another call";
}

TEST_F(RepeatedCallTest, APolicyMayExecuteARetryBehindTheFirstReply) {
  ServerOptions options;
  options.retries.executes_once = false;
  serve_all(options);
  const Bytes first = answer(mkdir(7, "made"));
  EXPECT_EQ(storage->remove_directory(storage->root(), "made"), Status::ok);
  EXPECT_EQ(answer(mkdir(7, "made")), first);
  EXPECT_TRUE(storage->lookup(storage->root(), "made"));
}

TEST_F(RepeatedCallTest, TheSameConnectionDoesNotRepeat) {
  RawStream stream(tcp_url);
  for (int i = 0; i < 2; ++i) stream.send_record(mkdir(7, "made"));
  drive([&] {
    stream.pump();
    return stream.records.size() == 2;
  });
  EXPECT_EQ(status_of(stream.records[0]), nfs3::Status::NFS3_OK);
  EXPECT_EQ(status_of(stream.records[1]), nfs3::Status::NFS3ERR_EXIST);
}

TEST_F(RepeatedCallTest, NamesOfMinorVersion0TooButNotThoseOfSessions) {
  const auto remove = [&](std::uint32_t minorversion) {
    Bytes arguments;
    wire::Writer writer(arguments);
    nfs4::CompoundArgs{"", minorversion}.encode(writer);
    nfs4::CallWriter<nfs4::Opnum> operations(arguments);
    operations.add(nfs4::Opnum::OP_PUTFH, nfs4::PutfhArgs{nfs4::FileHandle(View(root_handle))});
    operations.add(nfs4::Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
    rpc::CallHeader header;
    header.xid = 7;
    header.program = nfs4::kProgram;
    header.version = nfs4::kVersion;
    header.procedure = nfs4::NFSPROC4_COMPOUND;
    Bytes call;
    wire::Writer call_writer(call);
    header.encode(call_writer);
    call_writer.raw(arguments);
    return call;
  };
  make_file("file", {});
  const Bytes first = answer(remove(0));
  EXPECT_TRUE(content("file").empty());
  EXPECT_FALSE(storage->lookup(storage->root(), "file"));
  EXPECT_EQ(answer(remove(0)), first) << "NFS4ERR_NOENT for a file that the client has removed";
  Nfs4StateOptions options;
  options.clock = [this] { return now; };
  options.random = seeded_random(1);
  const Nfs4Program program(*storage, options);
  const auto is_idempotent = [&](const Bytes& call) {
    wire::Reader reader(call);
    rpc::CallHeader().decode(reader);
    return program.is_idempotent(nfs4::NFSPROC4_COMPOUND, reader);
  };
  EXPECT_FALSE(is_idempotent(remove(0)));
  EXPECT_TRUE(is_idempotent(remove(1))) << "a session has a reply cache";
}

}  // namespace
}  // namespace steertag::peer::testing
