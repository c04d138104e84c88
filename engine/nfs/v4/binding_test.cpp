// Tests of the upper-layer binding of COMPOUND: positions by hand, several items, pairing.
#include "nfs/v4/binding.h"

#include <gtest/gtest.h>

#include "nfs/eligible_items.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/v4/attribute_numbers.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using nfs::EligibleItem;
using rpc::testing::from_hex;

FileHandle handle(std::size_t size) {
  return FileHandle(Bytes(size, std::byte{1}));
}

Bytes call_header(std::uint32_t version = kVersion) {
  return rpc::testing::call_header(kProgram, version, NFSPROC4_COMPOUND);
}

/// A call with an empty tag: the first operation is at 40 + 12.
template <class Fill>
Bytes call_of(Fill&& fill, std::uint32_t minorversion = 1) {
  Bytes octets = call_header();
  wire::Writer writer(octets);
  CompoundArgs{"", minorversion}.encode(writer);
  CallWriter<Opnum> operations(octets);
  fill(operations);
  return octets;
}

/// A reply with an empty tag: the first result is at 24 + 12.
template <class Fill>
Bytes reply_of(Fill&& fill) {
  Bytes octets;
  wire::Writer writer(octets);
  rpc::ReplyHeader::accepted(1, rpc::AcceptStatus::SUCCESS).encode(writer);
  ReplyWriter<Opnum> results(octets, "");
  fill(results);
  return octets;
}

std::vector<EligibleItem> arguments(View call, std::vector<std::uint32_t> positions = {}) {
  wire::Fault fault;
  const auto items = nfs::eligible_arguments(call, positions, &fault);
  EXPECT_FALSE(fault) << fault.message();
  return items;
}

std::vector<EligibleItem> results(View reply, std::vector<std::uint32_t> lengths = {}) {
  wire::Fault fault;
  const auto items =
      nfs::eligible_results(reply, kProgram, kVersion, NFSPROC4_COMPOUND, lengths, &fault);
  EXPECT_FALSE(fault) << fault.message();
  return items;
}

void cut_out(Bytes& octets, std::size_t at, std::size_t length) {
  const auto from = octets.begin() + static_cast<std::ptrdiff_t>(at);
  octets.erase(from, from + static_cast<std::ptrdiff_t>(length));
}

TEST(Table, HoldsTheItemsOfRfc8267AndNoOthers) {
  std::string rows;
  for (const BindingRow& row : binding_table()) {
    rows += std::string(rpc::name(row.operation)) +
            (row.in == nfs::ItemIn::argument ? " argument " : " result ") + std::string(row.item) +
            "\n";
  }
  EXPECT_EQ(rows,
            "CREATE argument linkdata\nREAD result data\nREADLINK result link\nWRITE argument "
            "data\n");
}

Bytes two_writes(View first, View second) {
  return call_of([&](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_PUTFH, PutfhArgs{handle(32)});
    ops.add(Opnum::OP_WRITE, WriteArgs{.data = first});
    ops.add(Opnum::OP_GETATTR, GetattrArgs{Bitmap::of({FATTR4_SIZE})});
    ops.add(Opnum::OP_WRITE, WriteArgs{.data = second});
  });
}

TEST(EligibleArguments, TwoWritesCountedByHand) {
  const Bytes data(4101);
  const Bytes call = two_writes(data, View{data}.first(8));
  const auto items = arguments(call);
  ASSERT_EQ(items.size(), 2u);
  // 52, PUTFH 40, WRITE to its data 36.
  EXPECT_EQ(items[0].position, 128u);
  EXPECT_EQ(items[0].length, 4101u);
  EXPECT_FALSE(items[0].reduced);
  // The data with roundup 4104, GETATTR 12, WRITE to its data 36.
  EXPECT_EQ(items[1].position, 128u + 4104 + 12 + 36);
  EXPECT_EQ(items[1].length, 8u);
}

TEST(EligibleArguments, PositionsCountAsIfNothingWereReduced) {
  const Bytes data(4101);
  Bytes call = two_writes(data, View{data}.first(8));
  cut_out(call, 4280, 8);
  cut_out(call, 128, 4104);
  const auto items = arguments(call, {128, 4280});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].position, 128u);
  EXPECT_TRUE(items[0].reduced);
  EXPECT_EQ(items[1].position, 4280u);
  EXPECT_TRUE(items[1].reduced);
}

TEST(EligibleArguments, OnlyTheSecondIsReduced) {
  const Bytes data(4101);
  Bytes call = two_writes(data, View{data}.first(8));
  cut_out(call, 4280, 8);
  const auto items = arguments(call, {4280});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_FALSE(items[0].reduced);
  EXPECT_TRUE(items[1].reduced);
}

TEST(EligibleArguments, EmptyWriteIsNeverReduced) {
  const auto items = arguments(two_writes({}, {}), {128, 176});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_FALSE(items[0].reduced);
  EXPECT_FALSE(items[1].reduced);
}

TEST(EligibleArguments, LinkdataOfSymlinksOnly) {
  const auto create = [](FileType type) {
    return call_of([&](CallWriter<Opnum>& ops) {
      CreateArgs args;
      args.objtype = {type, "target", {1, 3}};
      args.objname = "name";
      ops.add(Opnum::OP_CREATE, args);
      ops.add(Opnum::OP_GETFH);
    });
  };
  auto call = create(FileType::NF4LNK);
  const auto items = arguments(call);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].position, 52u + 4 + 4 + 4);
  EXPECT_EQ(items[0].length, 6u);
  cut_out(call, 64, 8);
  EXPECT_TRUE(arguments(call, {64}).at(0).reduced);
  EXPECT_TRUE(arguments(create(FileType::NF4DIR)).empty());
  EXPECT_TRUE(arguments(create(FileType::NF4CHR)).empty());
}

TEST(EligibleArguments, HostileValuesDoNotHideTheItem) {
  const std::string name(kMostNameOctets + 1, 'n');
  const auto items = arguments(call_of([&](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_PUTFH, PutfhArgs{handle(200)});
    ops.add(Opnum::OP_LOOKUP, LookupArgs{name});
    ops.add(Opnum::OP_LOCKT, LocktArgs{.locktype = static_cast<LockType>(99)});
    ops.add(Opnum::OP_WRITE, WriteArgs{.stable = static_cast<StableHow>(7), .data = View{}});
  }));
  EXPECT_EQ(items.size(), 1u);
}

TEST(EligibleArguments, UnknownOperationEndsTheWalk) {
  const Bytes data(4);
  const Bytes call = call_of([&](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_WRITE, WriteArgs{.data = data});
    ops.add(static_cast<Opnum>(59));
    ops.add(Opnum::OP_WRITE, WriteArgs{.data = data});
  });
  wire::Fault fault;
  EXPECT_EQ(nfs::eligible_arguments(call, {}, &fault).size(), 1u);
  EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
  EXPECT_EQ(fault.field, "argop");
  EXPECT_EQ(fault.offset, 52u + 36 + 4);
}

TEST(EligibleArguments, NothingUnderGssPrivacy) {
  const Bytes call = two_writes({}, {});
  Bytes gss = from_hex(
      "00000001 00000000 00000002 000186a3 00000004 00000001"
      "00000006 00000014 00000001 00000000 00000001 00000003 00000000 00000000 00000000");
  gss.insert(gss.end(), call.begin() + 40, call.end());
  EXPECT_TRUE(arguments(gss).empty());
}

TEST(EligibleArguments, Version3HasTheSameShape) {
  const Bytes data(5);
  Bytes call = call_header(3);
  wire::store_u32(call.data() + 20, 7);
  wire::Writer writer(call);
  nfs3::WriteArgs args;
  args.file = nfs3::FileHandle(Bytes(32));
  args.data = data;
  args.encode(writer);
  const auto items = arguments(call);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].position, 96u);
  wire::store_u32(call.data() + 20, 6);
  EXPECT_TRUE(arguments(call).empty()) << "READ has no eligible argument";
}

/// RFC 8267 6.4.3: PUTFH LOOKUP READ, PUTFH LOOKUP READLINK, PUTFH LOOKUP READ.
Bytes three_reads(View first, std::string_view link, View last) {
  return reply_of([&](ReplyWriter<Opnum>& ops) {
    const auto step = [&] {
      ops.add_status(Opnum::OP_PUTFH, Status::NFS4_OK);
      ops.add_status(Opnum::OP_LOOKUP, Status::NFS4_OK);
    };
    step();
    ops.add(Opnum::OP_READ, ReadResult{.resok4 = {true, first}});
    step();
    ops.add(Opnum::OP_READLINK, ReadlinkResult{.resok4 = {link}});
    step();
    ops.add(Opnum::OP_READ, ReadResult{.resok4 = {true, last}});
  });
}

TEST(EligibleResults, ExampleOfRfc8267) {
  const Bytes data(16);
  Bytes reply = three_reads(data, "link", View{data}.first(3));
  auto items = results(reply);
  ASSERT_EQ(items.size(), 3u);
  // 36, two statuses 16, READ to its data 16.
  EXPECT_EQ(items[0].position, 68u);
  EXPECT_EQ(items[1].position, 68u + 16 + 16 + 12);
  EXPECT_EQ(items[2].position, 112u + 4 + 16 + 16);
  EXPECT_EQ(items[2].length, 3u);
  // Chunks A and C are used, B is empty.
  cut_out(reply, 148, 4);
  cut_out(reply, 68, 16);
  items = results(reply, {16, 0, 3});
  ASSERT_EQ(items.size(), 3u);
  EXPECT_TRUE(items[0].reduced);
  EXPECT_FALSE(items[1].reduced);
  EXPECT_TRUE(items[2].reduced);
  EXPECT_EQ(items[2].position, 148u);
}

TEST(EligibleResults, MoreReadsThanChunksAreInline) {
  const Bytes data(16);
  Bytes reply = three_reads(data, "link", data);
  cut_out(reply, 68, 16);
  const auto items = results(reply, {16});
  ASSERT_EQ(items.size(), 3u);
  EXPECT_TRUE(items[0].reduced);
  EXPECT_FALSE(items[1].reduced);
  EXPECT_FALSE(items[2].reduced);
}

TEST(EligibleResults, FailedReadIsAbsentAndUsesItsChunk) {
  const Bytes data(16);
  const Bytes reply = reply_of([&](ReplyWriter<Opnum>& ops) {
    ops.add(Opnum::OP_READ, ReadResult{.resok4 = {true, data}});
    ops.add_status(Opnum::OP_READ, Status::NFS4ERR_IO);
  });
  const auto items = results(reply);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_FALSE(items[0].absent);
  EXPECT_TRUE(items[1].absent);
  EXPECT_EQ(items[1].length, 0u);
}

TEST(EligibleResults, FailedReadOfVersion3IsAbsentToo) {
  Bytes reply;
  wire::Writer writer(reply);
  rpc::ReplyHeader::accepted(1, rpc::AcceptStatus::SUCCESS).encode(writer);
  nfs3::ReadResult failed;
  failed.status = nfs3::Status::NFS3ERR_IO;
  failed.encode(writer);
  const auto items = nfs::eligible_results(reply, kProgram, 3, 6, {});
  ASSERT_EQ(items.size(), 1u);
  EXPECT_TRUE(items[0].absent);
  EXPECT_TRUE(nfs::eligible_results(reply, kProgram, 3, 1, {}).empty()) << "GETATTR has none";
}

TEST(EligibleResults, ErrorReplyHasNone) {
  Bytes reply;
  wire::Writer writer(reply);
  rpc::ReplyHeader::accepted(1, rpc::AcceptStatus::GARBAGE_ARGS).encode(writer);
  EXPECT_TRUE(results(reply).empty());
}

TEST(EligibleResults, EveryCutGivesThePartBefore) {
  const Bytes data(16);
  const Bytes reply = three_reads(data, "link", data);
  std::size_t most = 0;
  for (std::size_t length = 24; length < reply.size(); ++length) {
    wire::Fault fault;
    const auto items = nfs::eligible_results(View{reply}.first(length), kProgram, kVersion,
                                             NFSPROC4_COMPOUND, {}, &fault);
    EXPECT_TRUE(fault) << length;
    EXPECT_LE(fault.offset, length);
    EXPECT_GE(items.size(), most) << "an item got lost at " << length;
    most = items.size();
  }
  EXPECT_EQ(most, 3u);
}

}  // namespace
}  // namespace steertag::nfs4
