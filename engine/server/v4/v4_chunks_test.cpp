// Write chunks of a COMPOUND with several eligible results (RFC 8267 6.4.1).
// Which chunk takes which READ or READLINK.
#include "server/testing/raw_client.h"
#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

constexpr std::uint32_t kXid = 0x11223344;
constexpr std::uint32_t kChunkBytes = 4096;
constexpr std::byte kUntouched{0xa5};

class ChunksTest : public PeerTest {
 protected:
  void SetUp() override {
    serve();
    domain = provider->make_domain();
    raw = std::make_unique<RawClient>(*provider, *domain, url, Bytes{});
    drive([&] { return raw->up; });
    file = nfs4::FileHandle(make_file("file", pattern(2000)).view());
  }
  /// RawClient goes before its domain, the domain before the provider.
  void TearDown() override {
    raw.reset();
    chunks.clear();
    domain.reset();
  }

  /// Memory for one more write chunk.
  void offer() {
    chunks.push_back(domain->allocate(kChunkBytes, {false, true}));
    std::ranges::fill(chunks.back()->bytes(), kUntouched);
  }
  void offer_empty() { chunks.push_back(nullptr); }

  struct Exchange {
    wire::Header header;
    Answer answer;
  };
  Exchange exchange(const Compound& compound) {
    wire::Draft draft = draft_call(
        kXid, rpc_call(kXid, nfs4::NFSPROC4_COMPOUND, compound.octets(), nfs4::kProgram, 4));
    for (const auto& chunk : chunks) {
      wire::DraftChunk offered{1, {}, {}, false};
      if (chunk) offered.segments.push_back({chunk->stag(), kChunkBytes, chunk->base()});
      draft.write_list.push_back(offered);
    }
    raw->send(draft);
    drive([&] { return !raw->received.empty(); });
    Exchange made;
    if (raw->received.empty()) return made;
    const Bytes octets = raw->received.front().octets;
    const auto payload = wire::decode(octets, made.header);
    EXPECT_TRUE(payload.has_value()) << "the answer has no header";
    EXPECT_EQ(made.header.proc, wire::Procedure::msg);
    EXPECT_EQ(made.header.write_list.size(), chunks.size());
    if (payload && made.header.proc == wire::Procedure::msg) made.answer = Answer(copy(*payload));
    return made;
  }
  /// What the chunk of this number has got, by the answer's lengths.
  Bytes got(const Exchange& made, std::size_t chunk) {
    const std::uint64_t length = wire::chunk_length(made.header.write_list[chunk]);
    return copy(chunks[chunk]->bytes().first(length));
  }
  bool untouched(std::size_t chunk) {
    return std::ranges::all_of(chunks[chunk]->bytes(),
                               [](std::byte octet) { return octet == kUntouched; });
  }
  static nfs4::ReadArgs at(std::uint64_t offset, std::uint32_t count) {
    return {{}, offset, count};
  }
  Bytes part(std::size_t offset, std::size_t count) {
    return copy(View(pattern(2000)).subspan(offset, count));
  }
  /// A READ's result whose data went into a chunk: count and eof, nothing behind.
  void expect_reduced_read(Answer& answer, std::uint32_t count) {
    wire::Reader reader(answer.take_words(4));
    EXPECT_EQ(reader.u32("resop"), static_cast<std::uint32_t>(Opnum::OP_READ));
    EXPECT_EQ(reader.u32("status"), 0U);
    reader.u32("eof");
    EXPECT_EQ(reader.u32("count"), count);
  }

  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<RawClient> raw;
  std::vector<std::unique_ptr<fabric::Region>> chunks;
  nfs4::FileHandle file;
};

TEST_F(ChunksTest, EachReadUsesTheNextChunkAndTheRestComesBackUnused) {
  for (int i = 0; i < 3; ++i) offer();
  Compound compound;
  compound.put(file)
      .add(Opnum::OP_READ, at(0, 101))
      .getattr(nfs4::Bitmap::of({nfs4::FATTR4_SIZE}))
      .add(Opnum::OP_READ, at(101, 200));
  Exchange made = exchange(compound);
  ASSERT_EQ(made.answer.status(), Status::NFS4_OK);
  EXPECT_EQ(got(made, 0), part(0, 101));
  EXPECT_EQ(got(made, 1), part(101, 200));
  EXPECT_EQ(wire::chunk_length(made.header.write_list[2]), 0U);
  EXPECT_TRUE(untouched(2)) << "a chunk that no READ uses was written";
  made.answer.skip(Opnum::OP_PUTFH);
  expect_reduced_read(made.answer, 101);
  made.answer.skip(Opnum::OP_GETATTR);
  expect_reduced_read(made.answer, 200);
  EXPECT_TRUE(made.answer.at_end()) << "octets of a reduced item are in the stream too";
}

TEST_F(ChunksTest, EmptyChunkAsksForItsReadInline) {
  offer();
  offer_empty();
  offer();
  Compound compound;
  compound.put(file)
      .add(Opnum::OP_READ, at(0, 10))
      .add(Opnum::OP_READ, at(10, 21))
      .add(Opnum::OP_READ, at(31, 30));
  Exchange made = exchange(compound);
  ASSERT_EQ(made.answer.status(), Status::NFS4_OK);
  EXPECT_EQ(got(made, 0), part(0, 10));
  EXPECT_TRUE(made.header.write_list[1].empty());
  EXPECT_EQ(got(made, 2), part(31, 30));
  made.answer.skip(Opnum::OP_PUTFH);
  expect_reduced_read(made.answer, 10);
  EXPECT_EQ(copy(made.answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4.data), part(10, 21));
  expect_reduced_read(made.answer, 30);
}

TEST_F(ChunksTest, MoreReadsThanChunksComeInline) {
  offer();
  Compound compound;
  compound.put(file).add(Opnum::OP_READ, at(0, 10)).add(Opnum::OP_READ, at(10, 20));
  Exchange made = exchange(compound);
  ASSERT_EQ(made.answer.status(), Status::NFS4_OK);
  EXPECT_EQ(got(made, 0), part(0, 10));
  made.answer.skip(Opnum::OP_PUTFH);
  expect_reduced_read(made.answer, 10);
  EXPECT_EQ(copy(made.answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4.data), part(10, 20));
}

TEST_F(ChunksTest, ReadOfNothingUsesItsChunkUp) {
  offer();
  offer();
  Compound compound;
  compound.put(file).add(Opnum::OP_READ, at(5000, 10)).add(Opnum::OP_READ, at(7, 20));
  Exchange made = exchange(compound);
  ASSERT_EQ(made.answer.status(), Status::NFS4_OK);
  EXPECT_EQ(wire::chunk_length(made.header.write_list[0]), 0U);
  EXPECT_TRUE(untouched(0)) << "the second READ's data went into the first chunk";
  EXPECT_EQ(got(made, 1), part(7, 20));
}

TEST_F(ChunksTest, FailedReadEndsTheCompoundAndLeavesTheChunksFromItsOwnOnUnused) {
  for (int i = 0; i < 3; ++i) offer();
  nfs4::ReadArgs failing = at(0, 10);
  failing.stateid.seqid = 7;  // a special stateid that does not exist
  Compound compound;
  compound.put(file)
      .add(Opnum::OP_READ, at(0, 10))
      .add(Opnum::OP_READ, failing)
      .add(Opnum::OP_READ, at(10, 20));
  Exchange made = exchange(compound);
  EXPECT_EQ(made.answer.status(), Status::NFS4ERR_BAD_STATEID) << rpc::name(made.answer.status());
  EXPECT_EQ(made.answer.count(), 3U);
  EXPECT_EQ(got(made, 0), part(0, 10));
  for (const std::size_t chunk : {1U, 2U}) {
    EXPECT_EQ(wire::chunk_length(made.header.write_list[chunk]), 0U) << "chunk " << chunk;
    EXPECT_TRUE(untouched(chunk)) << "chunk " << chunk;
  }
}

TEST_F(ChunksTest, ReadlinkUsesAChunkAsReadDoes) {
  NewNode link;
  link.type = FileType::link;
  link.link_text = "where/it/leads";
  const Handle handle = storage->handle(*storage->create(storage->root(), "link", link));
  offer();
  offer();
  Compound compound;
  compound.put(nfs4::FileHandle(View(handle)))
      .add(Opnum::OP_READLINK)
      .put(file)
      .add(Opnum::OP_READ, at(0, 9));
  Exchange made = exchange(compound);
  ASSERT_EQ(made.answer.status(), Status::NFS4_OK);
  EXPECT_EQ(got(made, 0), copy(std::as_bytes(std::span(link.link_text))));
  EXPECT_EQ(got(made, 1), part(0, 9));
}

}  // namespace
}  // namespace steertag::peer::testing
