// Tests of the largest replies of COMPOUNDs.
#include "nfs/v4/reply_size.h"

#include <gtest/gtest.h>

#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::encoded;

template <class Fill>
CompoundReplySize largest(Fill&& fill, std::string_view tag = "") {
  Bytes octets = rpc::testing::call_header(kProgram, kVersion, NFSPROC4_COMPOUND);
  wire::Writer writer(octets);
  CompoundArgs{tag, 1}.encode(writer);
  CallWriter<Opnum> operations(octets);
  fill(operations);
  const auto size = largest_reply(octets);
  EXPECT_TRUE(size);
  return size.value_or(CompoundReplySize{});
}

/// RPC header 24, status 4, empty tag 4, count 4.
constexpr std::size_t kEmpty = 36;

TEST(LargestReply, CountedByHand) {
  const auto size = largest([](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_SEQUENCE, SequenceArgs{});
    ops.add(Opnum::OP_PUTFH, PutfhArgs{});
    ops.add(Opnum::OP_READ, ReadArgs{.count = 4101});
    ops.add(Opnum::OP_GETATTR, GetattrArgs{Bitmap::of({FATTR4_CHANGE, FATTR4_TIME_MODIFY})});
  });
  // SEQUENCE 4 + 40, PUTFH 8, READ 4 + 12 + 4104, GETATTR 4 + 4 + two words 8 + counts 8 + 8 + 12.
  EXPECT_EQ(size.payload, kEmpty + 44 + 8 + 4120 + 44);
  EXPECT_EQ(size.eligible, std::vector<std::size_t>{4101});
  EXPECT_EQ(size.reduced(), size.payload - 4104);
  EXPECT_TRUE(size.bounded);
}

TEST(LargestReply, SeveralReadsInTheirOrder) {
  const auto size = largest([](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_READ, ReadArgs{.count = 8});
    ops.add(Opnum::OP_READLINK);
    ops.add(Opnum::OP_READ, ReadArgs{.count = 16});
  });
  EXPECT_EQ(size.eligible, (std::vector<std::size_t>{8, kMostPathOctets, 16}));
}

TEST(LargestReply, TagComesBack) {
  const auto none = [](CallWriter<Opnum>&) {};
  EXPECT_EQ(largest(none).payload, kEmpty);
  EXPECT_EQ(largest(none, "mount").payload, kEmpty + 8);
}

TEST(LargestReply, ReaddirHasItsMaxcount) {
  const auto size = largest(
      [](CallWriter<Opnum>& ops) { ops.add(Opnum::OP_READDIR, ReaddirArgs{.maxcount = 32768}); });
  EXPECT_EQ(size.payload, kEmpty + 4 + 4 + 32768);
}

TEST(LargestReply, ExchangeIdWithoutSsvFitsAPage) {
  const auto size =
      largest([](CallWriter<Opnum>& ops) { ops.add(Opnum::OP_EXCHANGE_ID, ExchangeIdArgs{}); });
  EXPECT_LT(size.payload, 4096u + 512);
}

TEST(LargestReply, AclsAreNotBounded) {
  const auto size = largest([](CallWriter<Opnum>& ops) {
    ops.add(Opnum::OP_GETATTR, GetattrArgs{Bitmap::of({FATTR4_ACL})});
  });
  EXPECT_FALSE(size.bounded);
  EXPECT_GE(size.payload, kMostAttributeOctets);
  EXPECT_FALSE(largest_fattr(Bitmap::of({80})).bounded) << "not in the table";
}

TEST(LargestReply, EveryResultFitsItsBound) {
  for (const auto& entry : kOpnumNames) {
    if (entry.value == Opnum::OP_ILLEGAL) continue;
    with_signature(entry.value, [&]<class Args, class Res>(Signature<Args, Res>) {
      const auto size = largest([&](CallWriter<Opnum>& ops) { ops.add(entry.value, Args{}); });
      EXPECT_GE(size.payload, kEmpty + 4 + encoded(Res{}).size()) << entry.name;
    });
  }
}

TEST(LargestReply, LockDeniedHoldsTheLargestOwner) {
  const auto size = largest([](CallWriter<Opnum>& ops) { ops.add(Opnum::OP_LOCKT, LocktArgs{}); });
  // number, status, offset, length, type, clientid, owner
  EXPECT_EQ(size.payload, kEmpty + 4 + 4 + 8 + 8 + 4 + 8 + 4 + kMostOpaqueOctets);
}

TEST(LargestReply, UnknownOperationEndsTheReply) {
  const auto size = largest([](CallWriter<Opnum>& ops) {
    ops.add(static_cast<Opnum>(99));
    ops.add(Opnum::OP_READ, ReadArgs{.count = 4096});
  });
  EXPECT_EQ(size.payload, kEmpty + 8);
}

TEST(LargestReply, AttributesOfALinuxClientFitTheirBound) {
  Attributes attributes;
  attributes.type = FileType::NF4REG;
  attributes.change = 1;
  attributes.fsid = Fsid{1, 2};
  attributes.owner = std::string_view("root@localdomain");
  attributes.time_access = Time{};
  const Bitmap mask = present(attributes);
  Bytes storage;
  EXPECT_LE(encoded(fattr_of(attributes, mask, storage)).size(), largest_fattr(mask).octets);
}

TEST(LargestReply, FaultOfTheArguments) {
  const Bytes octets(40);
  wire::Fault fault;
  EXPECT_FALSE(largest_reply(octets, 0, &fault)) << "rpcvers 0";
}

}  // namespace
}  // namespace steertag::nfs4
