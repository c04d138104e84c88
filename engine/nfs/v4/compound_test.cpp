// Tests of COMPOUND and CB_COMPOUND as streams of operations: worked octets, limits, stopping.
#include "nfs/v4/compound.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

template <class Header>
Bytes begun(const Header& header) {
  Bytes octets;
  wire::Writer writer(octets);
  header.encode(writer);
  return octets;
}

TEST(CallWriter, SequencePutfhRead) {
  Bytes octets = begun(CompoundArgs{"r", 1});
  CallWriter<Opnum> operations(octets);
  SequenceArgs sequence;
  sequence.sa_sessionid.fill(std::byte{0x5e});
  sequence.sa_sequenceid = 7;
  sequence.sa_slotid = 2;
  sequence.sa_highest_slotid = 3;
  sequence.sa_cachethis = true;
  operations.add(Opnum::OP_SEQUENCE, sequence);
  operations.add(Opnum::OP_PUTFH, PutfhArgs{FileHandle(from_hex("fafafafa"))});
  operations.add(Opnum::OP_READ, ReadArgs{.offset = 0x100, .count = 4096});
  operations.add(Opnum::OP_GETFH);
  EXPECT_EQ(operations.count(), 4u);
  EXPECT_EQ(to_hex(octets),
            joined("00000001 72000000 00000001 00000004"
                   "00000035 5e5e5e5e 5e5e5e5e 5e5e5e5e 5e5e5e5e 00000007 00000002 00000003"
                   "00000001"
                   "00000016 00000004 fafafafa"
                   "00000019 00000000 00000000 00000000 00000000 00000000 00000100 00001000"
                   "0000000a"));
}

TEST(ReplyWriter, StatusAndCountAreRightAfterEveryOperation) {
  Bytes octets = from_hex("aaaaaaaa");
  ReplyWriter<Opnum> results(octets, "r");
  EXPECT_EQ(to_hex(octets), joined("aaaaaaaa 00000000 00000001 72000000 00000000"));
  results.add_status(Opnum::OP_PUTFH, Status::NFS4_OK);
  EXPECT_EQ(to_hex(octets),
            joined("aaaaaaaa 00000000 00000001 72000000 00000001 00000016 00000000"));
  results.add_status(Opnum::OP_READ, Status::NFS4ERR_STALE);
  EXPECT_EQ(to_hex(octets), joined("aaaaaaaa 00000046 00000001 72000000 00000002 00000016 00000000"
                                   "00000019 00000046"));
  EXPECT_EQ(results.status(), Status::NFS4ERR_STALE);
  EXPECT_EQ(results.size(), 32u);
}

TEST(ReplyWriter, TakesTheLastResultBack) {
  Bytes octets;
  ReplyWriter<Opnum> results(octets, "");
  const Bytes data(64);
  results.add_status(Opnum::OP_PUTFH, Status::NFS4_OK);
  results.add(Opnum::OP_READ, ReadResult{.resok4 = {true, data}});
  results.replace_last(Status::NFS4ERR_REP_TOO_BIG);
  EXPECT_EQ(to_hex(octets), joined("00002752 00000000 00000002 00000016 00000000"
                                   "00000019 00002752"));
  EXPECT_EQ(results.count(), 2u);
}

TEST(ReplyWriter, SetattrKeepsItsBitmap) {
  Bytes octets;
  ReplyWriter<Opnum> results(octets, "");
  results.add_status(Opnum::OP_SETATTR, Status::NFS4ERR_PERM);
  EXPECT_EQ(to_hex(octets), joined("00000001 00000000 00000001 00000022 00000001 00000000"));
}

TEST(ReplyWriter, EndsWithoutAResult) {
  Bytes octets;
  ReplyWriter<Opnum> results(octets, "");
  results.set_status(Status::NFS4ERR_MINOR_VERS_MISMATCH);
  EXPECT_EQ(to_hex(octets), joined("00002725 00000000 00000000"));
}

TEST(ReplyWriter, IllegalOperation) {
  Bytes octets;
  ReplyWriter<Opnum> results(octets, "");
  results.add_status(Opnum::OP_ILLEGAL, Status::NFS4ERR_OP_ILLEGAL);
  EXPECT_EQ(to_hex(octets), joined("0000273c 00000000 00000001 0000273c 0000273c"));
}

TEST(OperationReader, GivesOneAtATime) {
  const Bytes octets = from_hex(
      "00000000 00000000 00000003"
      "00000018"                      // PUTROOTFH
      "0000000f 00000003 65746300"    // LOOKUP etc
      "00000009 00000001 00000012");  // GETATTR type, size
  wire::Reader reader(octets);
  CompoundArgs header;
  header.decode(reader);
  OperationReader<Opnum> operations(reader, "argarray");
  EXPECT_EQ(operations.count(), 3u);
  EXPECT_EQ(operations.next(), Opnum::OP_PUTROOTFH);
  EXPECT_EQ(operations.next(), Opnum::OP_LOOKUP);
  LookupArgs lookup;
  lookup.decode(reader);
  EXPECT_EQ(lookup.objname, "etc");
  EXPECT_EQ(operations.next(), Opnum::OP_GETATTR);
  EXPECT_EQ(operations.taken(), 3u);
  GetattrArgs getattr;
  getattr.decode(reader);
  EXPECT_EQ(getattr.attr_request, Bitmap::of({1, 4}));
  EXPECT_EQ(operations.next(), std::nullopt);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(OperationReader, UnknownNumberIsNoFault) {
  const Bytes octets = from_hex("00000001 0000270f");
  wire::Reader reader(octets);
  OperationReader<Opnum> operations(reader, "argarray");
  const auto number = operations.next();
  ASSERT_TRUE(number);
  EXPECT_EQ(rpc::name(*number), "");
  EXPECT_FALSE(skip_arguments(reader, *number));
  EXPECT_TRUE(reader.ok());
}

TEST(OperationReader, Limit) {
  const Bytes octets = from_hex("00000000 00000001 00000009 0000000a");
  for (const std::size_t limit : {8u, 9u}) {
    wire::Reader reader(octets);
    CompoundArgs header;
    header.decode(reader);
    OperationReader<Opnum> operations(reader, "argarray", limit);
    EXPECT_EQ(operations.next().has_value(), limit == 9);
    if (limit == 9) continue;
    EXPECT_EQ(reader.fault().code, FaultCode::limit_exceeded);
    EXPECT_EQ(reader.fault().offset, 8u);
    EXPECT_EQ(reader.fault().field, "argarray");
    EXPECT_EQ(status_of(reader.fault(), 0), Status::NFS4ERR_RESOURCE);
    EXPECT_EQ(status_of(reader.fault(), 1), Status::NFS4ERR_TOO_MANY_OPS);
  }
}

TEST(StatusOf, OtherFaultsAreBadxdr) {
  EXPECT_EQ(status_of({FaultCode::bad_count, 0, "objname"}, 1), Status::NFS4ERR_BADXDR);
  EXPECT_EQ(status_of({FaultCode::limit_exceeded, 0, "entries"}, 1), Status::NFS4ERR_BADXDR);
  EXPECT_EQ(status_of({}, 1), Status::NFS4_OK);
}

TEST(CbCompound, SequenceAndRecall) {
  Bytes octets = begun(CbCompoundArgs{"", 1, 0x11});
  CallWriter<CbOpnum> operations(octets);
  CbSequenceArgs sequence;
  sequence.csa_sequenceid = 1;
  sequence.csa_referring_call_lists.push_back({SessionId{}, {{8, 9}}});
  operations.add(CbOpnum::OP_CB_SEQUENCE, sequence);
  operations.add(
      CbOpnum::OP_CB_RECALL,
      CbRecallArgs{.stateid = {1, {}}, .truncate = true, .fh = FileHandle(from_hex("fafafafa"))});
  EXPECT_EQ(to_hex(octets),
            joined("00000000 00000001 00000011 00000002"
                   "0000000b 00000000 00000000 00000000 00000000 00000001 00000000 00000000"
                   "00000000 00000001 00000000 00000000 00000000 00000000 00000001 00000008"
                   "00000009"
                   "00000004 00000001 00000000 00000000 00000000 00000001 00000004 fafafafa"));
}

TEST(CbCompound, Reply) {
  Bytes octets;
  ReplyWriter<CbOpnum> results(octets, "");
  results.add(CbOpnum::OP_CB_SEQUENCE, CbSequenceResult{});
  results.add_status(CbOpnum::OP_CB_RECALL, Status::NFS4ERR_BADHANDLE);
  wire::Reader reader(octets);
  CompoundResult header;
  header.decode(reader);
  EXPECT_EQ(header.status, Status::NFS4ERR_BADHANDLE);
  OperationReader<CbOpnum> operations(reader, "resarray");
  EXPECT_EQ(operations.next(), CbOpnum::OP_CB_SEQUENCE);
  CbSequenceResult sequence;
  sequence.decode(reader);
  EXPECT_EQ(operations.next(), CbOpnum::OP_CB_RECALL);
  EXPECT_EQ(reader.remaining(), 4u);
}

/// A call of random operations with random arguments.
Bytes any_call(rpc::testing::Arena& arena) {
  Bytes octets = begun(rpc::testing::any<CompoundArgs>(arena));
  CallWriter<Opnum> operations(octets);
  const std::size_t length = *rc::gen::inRange<std::size_t>(0, 5);
  for (std::size_t i = 0; i < length; ++i) {
    const Opnum number = rpc::testing::any<Opnum>(arena);
    with_signature(number, [&]<class Args, class Res>(Signature<Args, Res>) {
      operations.add(number, rpc::testing::any<Args>(arena));
    });
  }
  return octets;
}

/// Walks over a call; the fault where it ends, code none at its end.
wire::Fault walked(View octets) {
  wire::Reader reader(octets);
  CompoundArgs header;
  header.decode(reader);
  OperationReader<Opnum> operations(reader, "argarray");
  while (const auto number = operations.next()) skip_arguments(reader, *number);
  return reader.fault();
}

RC_GTEST_PROP(Compound, WalksWholeAndFaultsWhenCut, ()) {
  rpc::testing::Arena arena;
  const Bytes octets = any_call(arena);
  RC_ASSERT(!walked(octets));
  for (std::size_t length = 0; length < octets.size(); ++length) {
    const wire::Fault fault = walked(View{octets}.first(length));
    RC_ASSERT(static_cast<bool>(fault));
    RC_ASSERT(fault.offset <= length);
    RC_ASSERT(!fault.field.empty());
  }
}

}  // namespace
}  // namespace steertag::nfs4
