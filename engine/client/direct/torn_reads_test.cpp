// Optimistic Reads beside a writer of self-checking blocks, between two threads over real sockets.
// STEERTAG_TORN_READS is the number of Reads of each test.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <iostream>

#include "client/direct/direct_calls.h"
#include "client/direct/optimistic_connection.h"
#include "client/rdma/call_schedule.h"
#include "client/rdma/requester.h"
#include "endpoint/block_frame.h"
#include "fabric/testing/endpoint.h"
#include "nfs/direct/private_data.h"
#include "server/direct/direct_access.h"
#include "server/server_thread.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// Reads of a test in ci/check: a second under sanitizers. ci/nightly asks for a million.
constexpr std::uint64_t kReads = 5000;
/// Several packets or FPDUs each, of few blocks: most Reads meet one that is being written.
constexpr std::uint32_t kBlockOctets = 16384;
constexpr std::size_t kBlocks = 4;
constexpr std::chrono::seconds kSilence{20};
constexpr std::size_t kWordOctets = 8;

/// Buffers of a TCP connection, which then takes a part of the Read Responses at a time.
constexpr int kBufferOctets = 65536;
/// Descriptors of this process that are looked at.
constexpr int kMostDescriptors = 256;

/// Narrows both ends of the TCP connections to this port.
void narrow_connections_to(std::uint16_t port) {
  for (int descriptor = 0; descriptor < kMostDescriptors; ++descriptor) {
    for (const auto name_of : {::getpeername, ::getsockname}) {
      sockaddr_in end{};
      socklen_t length = sizeof end;
      const bool named = name_of(descriptor, reinterpret_cast<sockaddr*>(&end), &length) == 0;
      if (!named || end.sin_family != AF_INET || ntohs(end.sin_port) != port) continue;
      for (const int buffer : {SO_RCVBUF, SO_SNDBUF})
        ::setsockopt(descriptor, SOL_SOCKET, buffer, &kBufferOctets, sizeof kBufferOctets);
    }
  }
}

std::uint64_t reads_to_do() {
  const char* const asked = std::getenv("STEERTAG_TORN_READS");
  return asked ? std::strtoull(asked, nullptr, 10) : kReads;
}

/// Every word of a block names the block and the WRITE.
void fill_block(std::size_t block, std::uint64_t version, MutableView octets) {
  for (std::size_t at = 0; at < octets.size(); at += kWordOctets)
    wire::store_u64(octets.data() + at, std::uint64_t{block} << 48 | version);
}
/// The WRITE whose octets these are; none if they are of two, or of another block.
std::optional<std::uint64_t> version_of(std::size_t block, View octets) {
  const std::uint64_t word = wire::load_u64(octets.data());
  for (std::size_t at = 0; at < octets.size(); at += kWordOctets)
    if (wire::load_u64(octets.data() + at) != word) return std::nullopt;
  if (word >> 48 != block) return std::nullopt;
  return word & 0xffff'ffff'ffff;
}

/// What came of the Reads.
struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t wiped = 0;  // frames of a revoked reference
  std::uint64_t torn = 0;   // frames that begin with the old generation, and are refused
  std::uint64_t mixed = 0;  // accepted, with octets of two WRITEs
  std::uint64_t old = 0;    // accepted, although a later WRITE was answered before the Read began
  std::uint64_t writes = 0;
  std::uint64_t done() const { return accepted + wiped + torn; }
};

struct ReadWay {
  std::string name;
  fabric::testing::Factory factory;
  bool crc = true;
};

class TornReadsTest : public ::testing::TestWithParam<ReadWay>, private fabric::Handler {
 protected:
  void start(const DirectPolicy& policy) {
    DirectLimits limits;
    limits.block_bytes = kBlockOctets;
    ServerOptions options;
    options.crc = GetParam().crc;
    options.direct = std::make_shared<DirectAccess>(limits, seeded_random(12),
                                                    std::chrono::steady_clock::now, policy);
    auto storage = std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8));
    make_file(*storage);
    const fabric::testing::Factory& factory = GetParam().factory;
    const net::Url where = *net::parse_url(factory.name + "://" + factory.host + ":0");
    auto started =
        ServerThread::start(std::array{where}, options, seeded_random(7), std::move(storage));
    ASSERT_TRUE(started) << started.error().message();
    server = std::move(*started);
    provider = *fabric::make_provider(factory.name, seeded_random(21));
    RequesterOptions of_requester;
    of_requester.crc = GetParam().crc;
    requester = std::make_unique<Requester>(*provider, server->listening().front(), of_requester,
                                            0x10000000);
    schedule = std::make_unique<CallSchedule>(*requester, std::chrono::steady_clock::now, kSilence);
    domain = provider->make_domain();
    open();
  }
  void TearDown() override {
    if (connection) {
      connection->set_handler(nullptr);
      connection->abort();
    }
  }

  /// Reads until so many are done, beside WRITEs of random blocks.
  void run(std::uint64_t reads) {
    std::uint64_t seen = 0;
    auto limit = std::chrono::steady_clock::now() + kSilence;
    while (tally.done() < reads) {
      ASSERT_EQ(ended, "") << "the optimistic connection ended after " << tally.done() << " Reads";
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "no Read was done any more";
      if (tally.done() != std::exchange(seen, tally.done()))
        limit = std::chrono::steady_clock::now() + kSilence;
      if (!writing) write();
      for (std::size_t block = 0; block < kBlocks; ++block) ask_for_reference(block);
      for (std::size_t slot = 0; slot < slots.size(); ++slot) start_read(slot);
      schedule->step(100ms);
    }
    std::cout << GetParam().name << ": " << tally.done() << " Reads, " << tally.accepted
              << " accepted, " << tally.wiped << " wiped, " << tally.torn << " torn, "
              << tally.mixed << " mixed, " << tally.old << " old, beside " << tally.writes
              << " WRITEs\n";
  }

  std::unique_ptr<ServerThread> server;
  std::unique_ptr<fabric::Provider> provider;
  std::unique_ptr<Requester> requester;
  std::unique_ptr<CallSchedule> schedule;
  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<fabric::Connection> connection;
  Tally tally;

 private:
  struct Block {
    std::optional<direct::Reference> reference{};
    bool asked = false;
    std::uint64_t version = 0;  // of the last WRITE that was answered
  };
  /// A Read that is in flight, or can be started.
  struct Slot {
    std::unique_ptr<fabric::Region> sink;
    bool in_flight = false;
    std::size_t block = 0;
    direct::Reference reference;
    std::uint64_t least = 0;  // the version when it began
  };

  void make_file(MemoryBackend& storage) {
    NewNode node;
    node.change.mode = 0666;
    const NodeId id = *storage.create(storage.root(), "file", node);
    Bytes content(kBlockOctets);
    for (std::size_t block = 0; block < kBlocks; ++block) {
      fill_block(block, 0, content);
      ASSERT_EQ(storage.write(id, block * kBlockOctets, content), peer::Status::ok);
    }
    handle = storage.handle(id);
  }

  template <class Result, class Then>
  void call(Request request, Then then) {
    schedule->call(std::move(request), [then](const Expected<CallReply, CallError>& reply) {
      ASSERT_TRUE(reply) << reply.error().message();
      const auto result = decode_results<Result>(reply->results);
      ASSERT_TRUE(result) << result.error().message();
      then(*result);
    });
  }

  void open() {
    direct::HelloArgs hello;
    hello.verifier.fill(std::byte{7});
    std::optional<direct::Ticket> ticket;
    call<direct::HelloResult>(
        direct_call(direct::Procedure::DIRECTPROC1_HELLO, hello, identity),
        [&](const direct::HelloResult& result) { ticket = result.resok4.ticket; });
    schedule->run_until([&] { return ticket.has_value() || HasFatalFailure(); });
    fabric::ConnectionOptions options;
    direct::encode(ticket.value_or(direct::Ticket{}), options.private_data);
    options.ird = 0;
    options.crc = GetParam().crc;
    auto made = provider->connect(server->listening().front(), *domain, options,
                                  static_cast<fabric::Handler&>(*this));
    ASSERT_TRUE(made) << made.error().message();
    connection = std::move(*made);
    schedule->run_until([&] { return established || !ended.empty(); });
    ASSERT_EQ(ended, "");
    narrow_connections_to(server->port());
    slots.resize(kMostOptimisticReads);
    for (Slot& slot : slots) slot.sink = domain->allocate(kBlockOctets + kFrameOctets, {});
  }

  void write() {
    writing = true;
    const std::size_t block = random() % kBlocks;
    const std::uint64_t version = ++versions;
    fill_block(block, version, octets);
    nfs3::WriteArgs args;
    args.file = nfs3::FileHandle(View(handle));
    args.offset = block * kBlockOctets;
    args.count = kBlockOctets;
    args.data = octets;
    call<nfs3::WriteResult>(nfs3_call(nfs3::Procedure::NFSPROC3_WRITE, args, identity),
                            [this, block, version](const nfs3::WriteResult& result) {
                              EXPECT_EQ(result.status, nfs3::Status::NFS3_OK);
                              writing = false;
                              ++tally.writes;
                              blocks[block].version = version;
                            });
  }

  void ask_for_reference(std::size_t number) {
    Block& block = blocks[number];
    if (block.reference || std::exchange(block.asked, true)) return;
    direct::RefsArgs args;
    args.file = direct::FileHandle(View(handle));
    args.offset = number * kBlockOctets;
    args.count = kBlockOctets;
    args.want_refs = 1;
    call<direct::RefsResult>(direct_call(direct::Procedure::DIRECTPROC1_REFS, args, identity),
                             [&block](const direct::RefsResult& result) {
                               block.asked = false;
                               ASSERT_EQ(result.resok4.refs.size(), 1U);
                               block.reference = result.resok4.refs.front();
                             });
  }

  void start_read(std::size_t number) {
    Slot& slot = slots[number];
    if (slot.in_flight || !ended.empty()) return;
    slot.block = (slot.block + 1) % kBlocks;
    const Block& block = blocks[slot.block];
    if (!block.reference) return;
    slot.reference = *block.reference;
    slot.least = block.version;
    const auto posted = connection->rdma_read(*slot.sink, 0, kBlockOctets + kFrameOctets,
                                              slot.reference.stag, slot.reference.base, number);
    ASSERT_TRUE(posted) << posted.error().message();
    slot.in_flight = true;
  }

  void on_established(fabric::Connection& /*connection*/, View /*private_data*/) override {
    established = true;
  }
  void on_refused(fabric::Connection& /*connection*/, const fabric::Error& error,
                  View /*private_data*/) override {
    ended = "refused: " + error.message();
  }
  void on_received(fabric::Connection& /*connection*/, fabric::WorkId /*id*/,
                   MutableView /*buffer*/, std::optional<std::uint32_t> /*invalidated*/) override {}
  void on_closed(fabric::Connection& /*connection*/, const fabric::CloseReason& reason) override {
    ended = "closed: " + reason.detail;
  }
  void on_completed(fabric::Connection& /*connection*/, fabric::WorkId id,
                    fabric::Operation /*operation*/) override {
    Slot& slot = slots[id];
    slot.in_flight = false;
    judge(slot);
    start_read(id);
  }

  void judge(const Slot& slot) {
    const View frame = slot.sink->bytes();
    Block& block = blocks[slot.block];
    if (const auto data = open_frame(frame, slot.reference.generation)) {
      ++tally.accepted;
      const auto version = version_of(slot.block, *data);
      if (!version) ++tally.mixed;
      if (version && *version < slot.least) ++tally.old;
      return;
    }
    ++(wire::load_u64(frame.data()) == slot.reference.generation ? tally.torn : tally.wiped);
    if (block.reference == slot.reference) block.reference.reset();
  }

  const Identity identity{true, 1000, 1000, "test", {}};
  fabric::RandomSource random = seeded_random(3);
  Handle handle;
  std::array<Block, kBlocks> blocks;
  std::vector<Slot> slots;
  Bytes octets = Bytes(kBlockOctets);  // of the WRITE that is under way
  bool writing = false;
  std::uint64_t versions = 0;
  bool established = false;
  std::string ended;  // why the connection is no more
};

TEST_P(TornReadsTest, NoAcceptedFrameMixesTwoWrites) {
  ASSERT_NO_FATAL_FAILURE(start({}));
  ASSERT_NO_FATAL_FAILURE(run(reads_to_do()));
  EXPECT_EQ(tally.mixed, 0U);
  EXPECT_EQ(tally.old, 0U);
  EXPECT_GT(tally.accepted, 0U);
  EXPECT_GT(tally.wiped + tally.torn, 0U) << "no Read met a change";
}

TEST_P(TornReadsTest, AServerThatMixesIsSeen) {
  DirectPolicy policy;
  policy.revocation.seals_half = true;
  ASSERT_NO_FATAL_FAILURE(start(policy));
  ASSERT_NO_FATAL_FAILURE(run(kReads));
  EXPECT_GT(tally.mixed, 0U);
}

INSTANTIATE_TEST_SUITE_P(Ways, TornReadsTest,
                         ::testing::Values(ReadWay{"iwarp", fabric::testing::iwarp_factory(), true},
                                           ReadWay{"iwarp_without_crc",
                                                   fabric::testing::iwarp_factory(), false},
                                           ReadWay{"roce", fabric::testing::roce_factory(), true}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace steertag::peer::testing
