// Recoverable refusals of RDMA Reads (ODAFS-34): which are of one Read, and which end the stream.
#include <algorithm>

#include "fabric/testing/raw_connection.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

constexpr std::size_t kOctets = 100;

/// Both ends are ours; the client reads memory of the server.
class RefusedReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pair.connect();
    ASSERT_TRUE(pair.server);
    source = pair.server_domain->allocate(kOctets, {.remote_read = true});
    std::ranges::copy(pattern(kOctets), source->bytes().begin());
    closed = pair.server_domain->allocate(kOctets, {.remote_read = true});
    closed->invalidate();
  }
  void recover_both() {
    ASSERT_TRUE(pair.client->recover_read_faults());
    ASSERT_TRUE(pair.server->recover_read_faults());
  }
  /// The client's sink of a Read of this memory. The Read has the number of its sink.
  void read(std::uint32_t stag, std::uint64_t offset, std::uint32_t length = kOctets) {
    sinks.push_back(pair.client_domain->allocate(kOctets, {}));
    ASSERT_TRUE(pair.client->rdma_read(*sinks.back(), 0, length, stag, offset, sinks.size()));
  }
  void read(const Region& region) { read(region.stag(), region.base()); }
  void poll_until_answered() {
    const Notices& notices = pair.client_notices;
    ASSERT_TRUE(pair.poll_until([&] {
      return notices.completed.size() + notices.refused_reads.size() == sinks.size() ||
             notices.closed;
    }));
    ASSERT_FALSE(notices.closed) << notices.closed->detail;
  }
  bool has_octets(std::size_t number) {
    return std::ranges::equal(sinks[number - 1]->bytes(), pattern(kOctets));
  }
  bool is_untouched(std::size_t number) {
    const auto is_zero = [](std::byte octet) { return octet == std::byte{0}; };
    return std::ranges::all_of(sinks[number - 1]->bytes(), is_zero);
  }

  Pair pair{iwarp_factory()};
  std::unique_ptr<Region> source;
  std::unique_ptr<Region> closed;
  std::vector<std::unique_ptr<Region>> sinks;
};

TEST_F(RefusedReadsTest, MiddleOneOfThreeAlone) {
  recover_both();
  read(*source);
  read(*closed);
  read(*source);
  poll_until_answered();
  ASSERT_EQ(pair.client_notices.refused_reads.size(), 1U);
  const RefusedRead& refused = pair.client_notices.refused_reads.front();
  EXPECT_EQ(refused.id, 2U);
  EXPECT_EQ(refused.behind, 1U) << "not in the order of the Reads";
  EXPECT_EQ(pair.client_notices.completed.front().id, 1U);
  EXPECT_EQ(pair.client_notices.completed.back().id, 3U);
  EXPECT_TRUE(has_octets(1));
  EXPECT_TRUE(is_untouched(2));
  EXPECT_TRUE(has_octets(3));
  read(*source);
  poll_until_answered();
  EXPECT_TRUE(has_octets(4)) << "the connection goes on";
  for (const EventLines* events : {&pair.client_events, &pair.server_events}) {
    EXPECT_EQ(std::ranges::count(events->lines, "server RdmaReadRefused 2 code 0"), 1);
  }
}

TEST_F(RefusedReadsTest, CausesAreThoseOfMemory) {
  recover_both();
  const auto unreadable = pair.server_domain->allocate(kOctets, {.remote_write = true});
  const auto foreign = pair.other_domain->allocate(kOctets, {.remote_read = true});
  read(*closed);
  read(source->stag(), source->base() + 1);
  read(*unreadable);
  read(*foreign);
  read(source->stag(), UINT64_MAX - 3);
  poll_until_answered();
  std::string codes;
  for (const RefusedRead& each : pair.client_notices.refused_reads) {
    EXPECT_TRUE(is_of_read_memory(each.cause));
    codes += std::to_string(each.cause.code);
  }
  EXPECT_EQ(codes, "01234");
}

TEST_F(RefusedReadsTest, ManyDoNotUseUpTheDepth) {
  recover_both();
  constexpr std::size_t kReads = 100;  // more than IRD
  for (std::size_t i = 0; i < kReads; ++i) read(i % 10 == 9 ? *source : *closed);
  poll_until_answered();
  EXPECT_EQ(pair.client_notices.refused_reads.size(), kReads * 9 / 10);
  EXPECT_TRUE(has_octets(kReads));
}

TEST_F(RefusedReadsTest, WithoutAnyWordTheConnectionEnds) {
  read(*closed);
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(pair.client_notices.refused_reads.empty());
  ASSERT_TRUE(pair.client_notices.closed->terminate);
  EXPECT_EQ(describe(*pair.client_notices.closed->terminate), describe(cause::kReadStag));
}

TEST_F(RefusedReadsTest, WithoutTheSourcesWordTheConnectionEnds) {
  ASSERT_TRUE(pair.client->recover_read_faults());
  read(*closed);
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(pair.client_notices.refused_reads.empty());
  EXPECT_TRUE(pair.client_notices.closed->terminate_from_peer);
}

TEST_F(RefusedReadsTest, WithoutTheSinksWordTheRefusalEndsTheConnection) {
  ASSERT_TRUE(pair.server->recover_read_faults());
  read(*closed);
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(pair.client_notices.refused_reads.empty());
  EXPECT_FALSE(pair.client_notices.closed->terminate_from_peer);
  ASSERT_TRUE(pair.client_notices.closed->terminate);
  EXPECT_EQ(describe(*pair.client_notices.closed->terminate), describe(cause::kInvalidQn));
  EXPECT_EQ(std::ranges::count(pair.client_events.lines, "server RdmaReadRefused 1 code 0"), 1)
      << "the client's observers see why";
}

TEST_F(RefusedReadsTest, OtherErrorsEndTheConnection) {
  recover_both();
  ASSERT_TRUE(pair.client->rdma_write(source->bytes(), source->stag(), source->base(), 1));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(describe(*pair.server_notices.closed->terminate), describe(cause::kTaggedStag));
}

/// The client is a bare socket.
class RefusalOctetsTest : public RawConnectionTest {
 protected:
  void SetUp() override {
    RawConnectionTest::SetUp();
    ASSERT_TRUE(pair.server->recover_read_faults());
  }
  static Bytes refusal(const ReadRefusal& content, std::uint32_t msn = 1) {
    Bytes octets(kReadRefusalBytes);
    encode(content, octets.data());
    return fpdu(untagged(Opcode::read_refusal, kReadRefusalQueue, msn), octets);
  }
  /// Has the server post two RDMA Reads. They leave after the initiator's first message.
  void read_twice() {
    send(message(1, 1));
    ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
    for (const WorkId id : {1U, 2U}) {
      sinks.push_back(pair.server_domain->allocate(kOctets, {}));
      ASSERT_TRUE(pair.server->rdma_read(*sinks.back(), 0, kOctets, 0x77, 0, id));
    }
    ASSERT_TRUE(pair.poll_until([&] { return peer->read() && requests().size() == 2; }));
  }
  /// What the server sent after its startup.
  std::vector<std::pair<Segment, View>> sent() const {
    std::vector<std::pair<Segment, View>> all;
    std::size_t at = before;
    while (at + kUlpduLengthBytes + kUntaggedHeaderBytes <= peer->got.size()) {
      const std::size_t ulpdu = load16(peer->got.data() + at);
      const Segment segment = decode_segment(peer->got.data() + at + kUlpduLengthBytes);
      const std::size_t header = segment.header_bytes();
      if (at + fpdu_bytes(ulpdu) > peer->got.size()) break;
      all.emplace_back(segment,
                       View(peer->got).subspan(at + kUlpduLengthBytes + header, ulpdu - header));
      at += fpdu_bytes(ulpdu);
    }
    return all;
  }
  std::vector<ReadRequest> requests() const {
    std::vector<ReadRequest> all;
    for (const auto& [segment, payload] : sent()) {
      if (segment.opcode == Opcode::read_request)
        all.push_back(decode_read_request(payload.data()));
    }
    return all;
  }
  void expect_end(const Bytes& octets, const std::string& cause, const std::string& part) {
    const std::size_t from = peer->got.size();
    send(octets);
    ASSERT_TRUE(pair.poll_until([&] { return !peer->read() && pair.server_notices.closed; }))
        << part << ": the connection did not end";
    EXPECT_EQ(peer->terminate(from), cause) << part;
    const std::string& detail = pair.server_notices.closed->detail;
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
    EXPECT_TRUE(pair.server_notices.refused_reads.empty()) << part << ": it counted";
    EXPECT_TRUE(pair.server_notices.completed.empty()) << part;
  }

  std::vector<std::unique_ptr<Region>> sinks;
};

TEST_F(RefusalOctetsTest, OldestIsRefusedAndTheNextIsAnswered) {
  read_twice();
  send(refusal({1, cause::kReadBounds}));
  const ReadRequest second = requests().back();
  send(fpdu(tagged(Opcode::read_response, second.sink_stag, second.sink_offset), pattern(kOctets)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.completed.size() == 1; }));
  ASSERT_EQ(pair.server_notices.refused_reads.size(), 1U);
  EXPECT_EQ(pair.server_notices.refused_reads[0].id, 1U);
  EXPECT_EQ(pair.server_notices.refused_reads[0].behind, 0U);
  EXPECT_TRUE(std::ranges::equal(sinks[1]->bytes(), pattern(kOctets)));
}

TEST_F(RefusalOctetsTest, ReadThatIsNotTheOldest) {
  read_twice();
  expect_end(refusal({2, cause::kReadStag}), "0/2/255", "of Read Request 2 instead of the oldest");
}

TEST_F(RefusalOctetsTest, NoReadInFlight) {
  send(message(1, 1));
  expect_end(refusal({1, cause::kReadStag}), "0/2/6", "without an outstanding Read Request");
}

TEST_F(RefusalOctetsTest, SameReadTwice) {
  read_twice();
  send(refusal({1, cause::kReadStag}));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.refused_reads.size() == 1; }));
  send(refusal({1, cause::kReadStag}, 2));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.refused_reads.size(), 1U);
}

TEST_F(RefusalOctetsTest, AnotherCause) {
  read_twice();
  expect_end(refusal({1, cause::kCannotInvalidate}), "0/2/255", "another cause");
}

TEST_F(RefusalOctetsTest, CauseOfAnotherLayer) {
  read_twice();
  expect_end(refusal({1, cause::kTaggedStag}), "0/2/255", "another cause");
}

TEST_F(RefusalOctetsTest, CutContent) {
  read_twice();
  expect_end(fpdu(untagged(Opcode::read_refusal, kReadRefusalQueue, 1), pattern(7)), "0/2/255",
             "refusal of 7 octets");
}

TEST_F(RefusalOctetsTest, LongContent) {
  read_twice();
  expect_end(fpdu(untagged(Opcode::read_refusal, kReadRefusalQueue, 1), pattern(9)), "1/2/5",
             "refusal of 9 octets");
}

TEST_F(RefusalOctetsTest, TwoSegments) {
  read_twice();
  Segment first = untagged(Opcode::read_refusal, kReadRefusalQueue, 1);
  first.last = false;
  expect_end(fpdu(first, pattern(8)), "0/2/255", "and more");
}

TEST_F(RefusalOctetsTest, WrongNumberOfTheQueue) {
  read_twice();
  expect_end(refusal({1, cause::kReadStag}, 2), "1/2/3", "MSN 2");
}

TEST_F(RefusalOctetsTest, WrongOffset) {
  read_twice();
  Segment segment = untagged(Opcode::read_refusal, kReadRefusalQueue, 1);
  segment.mo = 8;
  expect_end(fpdu(segment, pattern(8)), "1/2/4", "offset 8");
}

TEST_F(RefusalOctetsTest, OtherOpcodesAndQueuesStayForeign) {
  read_twice();
  expect_end(fpdu(untagged(Opcode::read_refusal, kReadRefusalQueue - 1, 1), pattern(8)), "1/2/1",
             "queue number 3");
}

TEST_F(RefusalOctetsTest, SendOnTheQueueOfRefusals) {
  read_twice();
  expect_end(fpdu(untagged(Opcode::send, kReadRefusalQueue, 1), pattern(8)), "0/2/6", "opcode 3");
}

TEST_F(RefusalOctetsTest, SourceMayCloseBehindTheFirstSegments) {
  constexpr std::uint32_t kLarge = 32 << 20;
  auto large = pair.server_domain->allocate(kLarge, {.remote_read = true});
  send(read_request(kLarge, large->stag(), large->base()));
  std::size_t seen = 0;
  ASSERT_TRUE(pair.poll_until([&] {
    pair.provider->poll(std::chrono::milliseconds(5));
    const bool stuck = pair.server_bytes.from_server.size() == seen && seen > before;
    seen = pair.server_bytes.from_server.size();
    return stuck;
  }));
  large.reset();
  send(read_request(kOctets, readable->stag(), readable->base(), 2));
  ASSERT_TRUE(pair.poll_until([&] {
    peer->read();
    const auto all = sent();
    return pair.server_notices.closed || (!all.empty() && all.back().first.last &&
                                          all.back().first.opcode == Opcode::read_response);
  }));
  ASSERT_FALSE(pair.server_notices.closed);
  const auto all = sent();
  ASSERT_GE(all.size(), 3U);
  const auto& [segment, content] = all[all.size() - 2];
  EXPECT_EQ(segment.opcode, Opcode::read_refusal);
  EXPECT_EQ(segment.msn, 1U);
  EXPECT_EQ(decode_read_refusal(content.data()).read_msn, 1U);
  EXPECT_EQ(describe(decode_read_refusal(content.data()).cause), describe(cause::kReadStag));
  EXPECT_FALSE(all.front().first.last) << "the response was whole before its source closed";
}

TEST_F(RefusalOctetsTest, SegmentsBeforeARefusalAreNoAnswer) {
  read_twice();
  const ReadRequest first = requests().front();
  Segment segment = tagged(Opcode::read_response, first.sink_stag, first.sink_offset);
  segment.last = false;
  send(fpdu(segment, pattern(10)));
  send(refusal({1, cause::kReadStag}));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.refused_reads.size() == 1; }));
  EXPECT_TRUE(pair.server_notices.completed.empty());
  EXPECT_FALSE(pair.server_notices.closed);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
