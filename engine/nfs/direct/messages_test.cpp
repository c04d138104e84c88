// Tests of direct access: worked octets, limits, round trips, truncation.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/direct/procedures.h"
#include "rpc/testing.h"

namespace steertag::direct {
namespace {

using rpc::testing::decoded;
using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

constexpr const char* kReferenceHex =
    "0000000100000000000000020000000000000003000000000001000000000010";

TEST(Reference, HasThirtyTwoOctets) {
  const Reference reference{1, 2, 3, 65536, 16};
  EXPECT_EQ(to_hex(encoded(reference)), joined(kReferenceHex));
  EXPECT_EQ(decoded<Reference>(from_hex(kReferenceHex)), reference);
}

TEST(HelloResult, WorkedOctets) {
  HelloResult result;
  result.resok4.ticket.fill(std::byte{0xaa});
  result.resok4.block_bytes = 65536;
  result.resok4.most_references = 512;
  result.resok4.lease_seconds = 60;
  result.resok4.netid = "rdma";
  EXPECT_EQ(to_hex(encoded(result)),
            joined("00000000 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 00010000 00000001 00000200 0000003c "
                   "00000004 72646d61 00000000"));
  result.status = Status::NFS4ERR_DELAY;
  EXPECT_EQ(to_hex(encoded(result)), "00002718") << "more than a status with an error";
}

TEST(ReadResult, ReferencesFollowTheData) {
  const Bytes data = from_hex("68690000");
  ReadResult result;
  result.resok4 = {5, 2, true, View(data).first(2), {Reference{1, 2, 3, 65536, 16}}};
  EXPECT_EQ(to_hex(encoded(result)),
            joined(std::string("00000000 0000000000000005 0000000000000002 00000001 00000002 "
                               "68690000 00000001") +
                   kReferenceHex));
}

TEST(Limits, OfReferencesAndReads) {
  ReturnArgs returned;
  returned.refs.resize(kMostReferences);
  EXPECT_FALSE(fault_of<ReturnArgs>(encoded(returned)));
  returned.refs.resize(kMostReferences + 1);
  EXPECT_EQ(fault_of<ReturnArgs>(encoded(returned)).code, FaultCode::bad_count);
  BatchArgs batch;
  batch.reads.resize(kMostReads);
  EXPECT_FALSE(fault_of<BatchArgs>(encoded(batch)));
  batch.reads.resize(kMostReads + 1);
  EXPECT_EQ(fault_of<BatchArgs>(encoded(batch)).code, FaultCode::bad_count);
}

template <class T>
class EveryMessage : public ::testing::Test {};
using Messages = ::testing::Types<Reference, HelloArgs, HelloResult, RefsArgs, RefsResult, ReadArgs,
                                  ReadResult, BatchArgs, BatchResult, ReturnArgs, Counters>;
TYPED_TEST_SUITE(EveryMessage, Messages);

TYPED_TEST(EveryMessage, RoundTripsAndFaultsWhenCut) {
  EXPECT_TRUE(rc::check([] {
    rpc::testing::Arena arena;
    rpc::testing::check_codec<TypeParam>(encoded(rpc::testing::any<TypeParam>(arena)));
  }));
}

TEST(Procedures, AreSeven) {
  EXPECT_EQ(rpc::value_named<Procedure>("READ"), Procedure::DIRECTPROC1_READ);
  EXPECT_EQ(rpc::value_numbered<Procedure>(6), Procedure::DIRECTPROC1_COUNTERS);
  EXPECT_FALSE(rpc::value_numbered<Procedure>(7));
}

}  // namespace
}  // namespace steertag::direct
