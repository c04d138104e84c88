// The reference server's answers to messages that break a rule.
// The table of RFC 8166 4.5, and RPC errors (RFC 5531).
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kXid = 0x12345678;

class ErrorTest : public PeerTest {
 protected:
  void SetUp() override { open({}); }

  void open(const ServerOptions& options) {
    client.reset();
    server.reset();
    serve(options);
    domain = provider->make_domain();
    client = std::make_unique<RawClient>(*provider, *domain, url, Bytes{});
    drive([&] { return client->up || client->closed; });
    ASSERT_TRUE(client->up) << "the connection was refused";
  }

  /// Silence is proved by the next reply: sends a NULL call behind the message and returns what
  /// came before its reply.
  std::vector<Received> answers(Bytes message) {
    client->received.clear();
    client->send(std::move(message));
    client->send(draft_call(kProbe, rpc_call(kProbe, 0)));
    drive([&] {
      return client->closed || (!client->received.empty() &&
                                wire::load_u32(client->received.back().octets.data()) == kProbe);
    });
    EXPECT_FALSE(client->closed) << "the server closed the connection: " << client->reason.detail;
    if (!client->received.empty()) client->received.pop_back();
    return client->received;
  }
  std::vector<Received> answers(const wire::Draft& draft) {
    Bytes octets;
    wire::encode(draft, octets);
    return answers(std::move(octets));
  }

  /// The one answer to a call that may be pulled first, so that nothing can be said by order.
  std::vector<Received> answer(const wire::Draft& draft) {
    client->received.clear();
    client->send(draft);
    drive([&] { return client->closed || !client->received.empty(); });
    EXPECT_FALSE(client->closed) << "the server closed the connection: " << client->reason.detail;
    return client->received;
  }

  void expect_words(const std::vector<Received>& got, const std::vector<std::uint32_t>& words) {
    ASSERT_EQ(got.size(), 1U) << "exactly one answer was expected";
    std::vector<std::uint32_t> found;
    for (std::size_t at = 0; at + 4 <= got[0].octets.size(); at += 4)
      found.push_back(wire::load_u32(got[0].octets.data() + at));
    EXPECT_EQ(found, words);
  }
  void expect_err_chunk(const std::vector<Received>& got, std::uint32_t xid = kXid) {
    expect_words(got, {xid, 1, kDefaultCredits, 4, 2});
  }
  void expect_silence(const std::vector<Received>& got) {
    EXPECT_TRUE(got.empty()) << "the message had to be discarded, but there was an answer of "
                             << got[0].octets.size() << " octets";
  }
  void expect_rpc(const std::vector<Received>& got, const rpc::ReplyHeader& expected) {
    ASSERT_EQ(got.size(), 1U);
    wire::Header header;
    const auto payload = wire::decode(got[0].octets, header);
    ASSERT_TRUE(payload) << payload.error().message();
    EXPECT_EQ(copy(*payload), encoded(expected));
  }

  static constexpr std::uint32_t kProbe = 0x70707070;
  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<RawClient> client;
};

TEST_F(ErrorTest, MessagesBelow28OctetsAreDiscarded) {
  Bytes whole;
  wire::encode(draft_call(kXid, {}), whole);
  for (std::size_t length = 0; length < 28; ++length) {
    SCOPED_TRACE(length);
    expect_silence(
        answers(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))));
  }
}

TEST_F(ErrorTest, OtherVersionsGetErrVersWithTheirVersion) {
  for (const std::uint32_t version : {0U, 2U, 0xffffffffU}) {
    wire::Draft draft = draft_call(kXid, rpc_call(kXid, 0));
    draft.vers = version;
    draft.proc = 77;  // nothing behind the version counts
    expect_words(answers(draft), {kXid, version, kDefaultCredits, 4, 1, 1, 1});
  }
}

TEST_F(ErrorTest, ProceduresOfNoUse) {
  wire::Draft draft = draft_call(kXid, rpc_call(kXid, 0));
  draft.proc = 2;
  expect_err_chunk(answers(draft));
  draft.proc = 3;
  draft.append.resize(32);
  expect_silence(answers(draft));
  draft.proc = 4;
  expect_silence(answers(draft));
  draft.append.clear();
  for (const std::uint32_t proc : {5U, 6U, 0x80000000U, 0xffffffffU}) {
    draft.proc = proc;
    expect_err_chunk(answers(draft));
  }
}

TEST_F(ErrorTest, ListsThatDoNotDecodeGetErrChunk) {
  const wire::Segment segment{0x1111, 4096, 0};
  wire::Draft whole = draft_call(kXid, rpc_call(kXid, 0));
  whole.read_list.push_back({1, {0x60, segment}, false});
  whole.write_list.push_back({1, {}, {segment, segment}, false});
  whole.reply_chunk = wire::DraftChunk{1, {}, {segment}, false};
  for (const wire::FieldSpan& field : wire::fields(whole)) {
    if (field.offset < wire::kSmallestHeaderBytes) continue;
    wire::Draft cut = whole;
    cut.cut_to = field.offset + 2;
    SCOPED_TRACE(::testing::Message() << "cut inside " << field.name << " at " << field.offset);
    expect_err_chunk(answers(cut));
  }
  wire::Draft presence = whole;
  presence.read_list[0].presence = 2;
  expect_err_chunk(answers(presence));
  wire::Draft position = whole;
  position.read_list[0].segment.position = 0x61;
  expect_err_chunk(answers(position));
  for (const std::uint32_t count : {3U, 0x10000000U, 0x10000001U, 0xffffffffU}) {
    wire::Draft counted = whole;
    counted.payload.clear();
    counted.reply_chunk->count = count;
    expect_err_chunk(answers(counted));
  }
}

TEST_F(ErrorTest, LongCallsWithoutTheirChunkGetErrChunk) {
  wire::Draft draft = draft_call(kXid, {});
  draft.proc = 1;
  expect_err_chunk(answers(draft));
  draft.read_list.push_back({1, {0x60, {0x1111, 4096, 0}}, false});
  expect_err_chunk(answers(draft));
  draft.read_list[0].segment = {0, {0x1111, 0, 0}};
  expect_err_chunk(answers(draft));
}

TEST_F(ErrorTest, DifferentXidsGetErrChunk) {
  expect_err_chunk(answers(draft_call(kXid, rpc_call(kXid + 1, 0))));
  expect_err_chunk(answers(draft_call(kXid, {})));
}

TEST_F(ErrorTest, RepliesToNoCallAreDiscarded) {
  expect_silence(answers(
      draft_call(kXid, encoded(rpc::ReplyHeader::accepted(kXid, rpc::AcceptStatus::SUCCESS)))));
}

TEST_F(ErrorTest, ChunksBeyondTheLimitsGetErrChunk) {
  wire::Draft draft = draft_call(kXid, rpc_call(kXid, 0));
  draft.read_list.push_back({1, {40, {0x1111, 0xffffffff, 0}}, false});
  expect_err_chunk(answers(draft));
  draft.read_list.clear();
  for (std::size_t i = 0; i < kMostChunks + 1; ++i) draft.write_list.push_back({1, {}, {}, false});
  expect_err_chunk(answers(draft));
}

TEST_F(ErrorTest, RpcErrorsAreRepliesWithTheChunksReturned) {
  using rpc::AcceptStatus;
  using rpc::ReplyHeader;
  expect_rpc(answers(draft_call(kXid, rpc_call(kXid, 22))),
             ReplyHeader::accepted(kXid, AcceptStatus::PROC_UNAVAIL));
  expect_rpc(answers(draft_call(kXid, rpc_call(kXid, 0xffffffff))),
             ReplyHeader::accepted(kXid, AcceptStatus::PROC_UNAVAIL));
  expect_rpc(answers(draft_call(kXid, rpc_call(kXid, 0, {}, 0x20000001))),
             ReplyHeader::accepted(kXid, AcceptStatus::PROG_UNAVAIL));
  expect_rpc(answers(draft_call(kXid, rpc_call(kXid, 0, {}, nfs3::kProgram, 99))),
             ReplyHeader::program_mismatch(kXid, {3, 4}));
  expect_rpc(answers(draft_call(kXid, rpc_call(kXid, 1))),
             ReplyHeader::accepted(kXid, AcceptStatus::GARBAGE_ARGS));
  Bytes other_rpc = rpc_call(kXid, 0);
  wire::store_u32(other_rpc.data() + 8, 3);
  expect_rpc(answers(draft_call(kXid, other_rpc)), ReplyHeader::rpc_mismatch(kXid, {2, 2}));
  Bytes gss = rpc_call(kXid, 0);
  wire::store_u32(gss.data() + 24, 6);
  expect_rpc(answers(draft_call(kXid, gss)),
             ReplyHeader::auth_error(kXid, rpc::AuthStatus::AUTH_REJECTEDCRED));
  for (std::size_t length = 8; length < 40; length += 4) {
    SCOPED_TRACE(length);
    Bytes cut = rpc_call(kXid, 0);
    cut.resize(length);
    expect_rpc(answers(draft_call(kXid, cut)),
               ReplyHeader::accepted(kXid, AcceptStatus::GARBAGE_ARGS));
  }
}

class ReducedTest : public ErrorTest {
 protected:
  /// Offers `data` in a read chunk at `position` of a call without it.
  wire::Draft reduced(Bytes payload, std::uint32_t position, View data) {
    region = domain->allocate(data.size(), {true, false});
    std::copy(data.begin(), data.end(), region->bytes().begin());
    wire::Draft draft = draft_call(kXid, std::move(payload));
    draft.read_list.push_back(
        {1,
         {position, {region->stag(), static_cast<std::uint32_t>(data.size()), region->base()}},
         false});
    return draft;
  }
  Bytes write_call(const nfs3::FileHandle& file, std::uint32_t length) {
    nfs3::WriteArgs args;
    args.file = file;
    args.count = length;
    Bytes arguments = encoded(args);
    wire::store_u32(arguments.data() + arguments.size() - 4, length);
    return rpc_call(kXid, 7, arguments);
  }
  nfs3::FileHandle root_handle() {
    const Handle handle = storage->handle(storage->root());
    return nfs3::FileHandle(View(handle));
  }
  std::unique_ptr<fabric::Region> region;
};

TEST_F(ReducedTest, ReducedNameIsNotExecuted) {
  nfs3::CreateArgs args;
  args.where = {root_handle(), "name"};
  const Bytes whole = rpc_call(kXid, 8, encoded(args));
  constexpr std::size_t kNameAt = 40 + 36 + 4;  // RPC header, handle, count word
  Bytes payload(whole.begin(), whole.begin() + kNameAt);
  payload.insert(payload.end(), whole.begin() + kNameAt + 4, whole.end());
  expect_err_chunk(answer(reduced(payload, kNameAt, pattern(4))));
  EXPECT_FALSE(storage->lookup(storage->root(), "name").has_value());
  EXPECT_EQ(storage->space().free_files, storage->space().total_files - 1) << "something was made";
}

TEST_F(ReducedTest, WriteIsExecutedOnlyWhenChunkAndArgumentsAgree) {
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes data = pattern(4101);
  const Bytes payload = write_call(file, 4101);
  const auto position = static_cast<std::uint32_t>(payload.size());
  const auto garbage = rpc::ReplyHeader::accepted(kXid, rpc::AcceptStatus::GARBAGE_ARGS);
  expect_rpc(answer(reduced(payload, position, View(data).first(4100))), garbage);
  expect_rpc(answer(reduced(payload, position, pattern(4105))), garbage);
  expect_rpc(answer(reduced(payload, position + 4, data)), garbage);
  expect_err_chunk(answer(reduced(payload, position - 4, data)));
  EXPECT_TRUE(content("file").empty()) << "a call that had to be refused was executed";
  EXPECT_EQ(answer(reduced(payload, position, data)).size(), 1U);
  EXPECT_EQ(content("file"), data);
}

TEST_F(ReducedTest, CallThatCannotBePulledGetsErrChunkAndIsNotExecuted) {
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes payload = write_call(file, 5000);
  const wire::Draft draft =
      reduced(payload, static_cast<std::uint32_t>(payload.size()), pattern(5000));
  client = std::make_unique<RawClient>(*provider, *domain, url, Bytes{}, 64, 4096, nullptr, 0);
  drive([&] { return client->up || client->closed; });
  expect_err_chunk(answer(draft));
  EXPECT_TRUE(content("file").empty()) << "a WRITE was executed although nothing was read";
  EXPECT_EQ(answers(draft_call(kXid, rpc_call(kXid, 0))).size(), 1U);
}

class RepliesTwice final : public Interposer {
 public:
  bool on_departure(const std::shared_ptr<InterposedConnection>& connection,
                    const Departure& departure) override {
    Bytes message;
    for (const View part : departure.parts) message.insert(message.end(), part.begin(), part.end());
    for (int i = 0; i < 2; ++i) (void)connection->send(message);
    return true;
  }
};

TEST_F(ReducedTest, FailureToPostAReadEndsTheConnectionAndNothingIsExecuted) {
  client.reset();
  domain.reset();
  server.reset();
  fabric::Limits limits;
  limits.posted_operations = 2;
  provider = *fabric::make_provider("iwarp", seeded_random(7), limits);
  ServerOptions options;
  options.interposer = std::make_shared<RepliesTwice>();  // fills the queue
  open(options);
  const nfs3::FileHandle file = make_file("file", {});
  const Bytes payload = write_call(file, 5000);
  client->send(draft_call(kProbe, rpc_call(kProbe, 0)));
  client->send(reduced(payload, static_cast<std::uint32_t>(payload.size()), pattern(5000)));
  drive([&] { return client->closed; });
  drive([&] { return server->connection_count() == 0; });
  EXPECT_TRUE(content("file").empty()) << "a WRITE was executed although nothing was read";
}

TEST_F(ReducedTest, TooSmallChunksGetErrChunkAndStayUntouched) {
  const nfs3::FileHandle file = make_file("file", pattern(5000));
  auto offered = domain->allocate(4999, {false, true});
  const wire::Segment segment{offered->stag(), 4999, offered->base()};
  const Bytes call = rpc_call(kXid, 6, encoded(nfs3::ReadArgs{file, 0, 5000}));
  wire::Draft in_write_chunk = draft_call(kXid, call);
  in_write_chunk.write_list.push_back({1, {}, {segment}, false});
  expect_err_chunk(answers(in_write_chunk));
  wire::Draft in_reply_chunk = draft_call(kXid, call);
  in_reply_chunk.reply_chunk = wire::DraftChunk{1, {}, {segment}, false};
  expect_err_chunk(answers(in_reply_chunk));
  expect_err_chunk(answers(draft_call(kXid, call)));
  EXPECT_EQ(copy(offered->bytes()), Bytes(4999)) << "octets were written into a chunk too small";
}

TEST_F(ReducedTest, LostConnectionIsNotLostAgainByTheRetry) {
  const nfs3::FileHandle file = make_file("file", pattern(5000));
  wire::Draft draft = draft_call(kXid, rpc_call(kXid, 6, encoded(nfs3::ReadArgs{file, 0, 5000})));
  draft.write_list.push_back({1, {}, {{0xdeadbeef, 5000, 0}}, false});
  client->send(draft);
  drive([&] { return client->closed; });
  drive([&] { return server->connection_count() == 0; });
  client = std::make_unique<RawClient>(*provider, *domain, url, Bytes{});
  drive([&] { return client->up; });
  expect_err_chunk(answer(draft));
}

TEST_F(ReducedTest, ServerSurvivesCutAndFlippedMessages) {
  const nfs3::FileHandle file = make_file("file", pattern(100));
  Bytes whole;
  wire::encode(reduced(write_call(file, 100), 96, pattern(100)), whole);
  std::mt19937 engine(5);
  for (int round = 0; round < 600; ++round) {
    Bytes octets = whole;
    for (int flips = 0; flips < 2; ++flips)
      octets[engine() % octets.size()] ^= static_cast<std::byte>(1U << (engine() % 8));
    if (round % 3 == 0) octets.resize(engine() % octets.size());
    client->received.clear();
    client->send(octets);
    client->send(draft_call(kProbe, rpc_call(kProbe, 0)));
    drive([&] {
      return client->closed || (!client->received.empty() &&
                                wire::load_u32(client->received.back().octets.data()) == kProbe);
    });
    // A segment that was flipped may well end the connection, nothing else.
    client = std::make_unique<RawClient>(*provider, *domain, url, Bytes{});
    drive([&] { return client->up; });
    ASSERT_TRUE(client->up) << "round " << round << ": the server takes no connection any more";
  }
}

}  // namespace
}  // namespace steertag::peer::testing
