// Tests of every operation of COMPOUND: sizes by the RFC, round trips, truncation.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/v4/operations.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::encoded;
using rpc::testing::fault_of;

/// Octets of default values (empty handles, names and arrays, arms without content), counted by
/// hand from the XDR of RFC 5662: arguments, and result with NFS4_OK.
struct Sizes {
  const char* operation;
  std::size_t args;
  std::size_t ok;
};
constexpr Sizes kSizes[] = {
    {"ACCESS", 4, 12},
    {"CLOSE", 20, 20},
    {"COMMIT", 12, 12},
    {"CREATE", 16, 28},
    {"DELEGPURGE", 8, 4},
    {"DELEGRETURN", 16, 4},
    {"GETATTR", 4, 12},
    {"GETFH", 0, 8},
    {"LINK", 4, 24},
    {"LOCK", 48, 20},
    {"LOCKT", 32, 4},
    {"LOCKU", 40, 20},
    {"LOOKUP", 4, 4},
    {"LOOKUPP", 0, 4},
    {"NVERIFY", 8, 4},
    {"OPEN", 36, 52},
    {"OPENATTR", 4, 4},
    {"OPEN_CONFIRM", 20, 20},
    {"OPEN_DOWNGRADE", 28, 20},
    {"PUTFH", 4, 4},
    {"PUTPUBFH", 0, 4},
    {"PUTROOTFH", 0, 4},
    {"READ", 28, 12},
    {"READDIR", 28, 20},
    {"READLINK", 0, 8},
    {"REMOVE", 4, 24},
    {"RENAME", 8, 44},
    {"RENEW", 8, 4},
    {"RESTOREFH", 0, 4},
    {"SAVEFH", 0, 4},
    {"SECINFO", 4, 8},
    {"SETATTR", 24, 8},
    {"SETCLIENTID", 28, 20},
    {"SETCLIENTID_CONFIRM", 16, 4},
    {"VERIFY", 8, 4},
    {"WRITE", 32, 20},
    {"RELEASE_LOCKOWNER", 12, 4},
    {"BACKCHANNEL_CTL", 8, 4},
    {"BIND_CONN_TO_SESSION", 24, 28},
    {"EXCHANGE_ID", 24, 44},
    {"CREATE_SESSION", 80, 84},
    {"DESTROY_SESSION", 16, 4},
    {"FREE_STATEID", 16, 4},
    {"GET_DIR_DELEGATION", 40, 44},
    {"GETDEVICEINFO", 28, 16},
    {"GETDEVICELIST", 24, 28},
    {"LAYOUTCOMMIT", 52, 8},
    {"LAYOUTGET", 56, 28},
    {"LAYOUTRETURN", 52, 8},
    {"SECINFO_NO_NAME", 4, 8},
    {"SEQUENCE", 32, 40},
    {"SET_SSV", 8, 8},
    {"TEST_STATEID", 4, 8},
    {"WANT_DELEGATION", 8, 8},
    {"DESTROY_CLIENTID", 8, 4},
    {"RECLAIM_COMPLETE", 4, 4},
};

class EveryOperation : public ::testing::TestWithParam<Sizes> {
 protected:
  Opnum number() const { return *operation_named(GetParam().operation); }
};

TEST_P(EveryOperation, HasTheSizesOfTheRfc) {
  with_signature(number(), [&]<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_EQ(encoded(Args{}).size(), GetParam().args);
    Res result{};
    EXPECT_EQ(encoded(result).size(), GetParam().ok);
    result.status = Status::NFS4ERR_IO;
    // SETATTR4res is no union: its attrsset is always there.
    const bool setattr = number() == Opnum::OP_SETATTR;
    EXPECT_EQ(encoded(result).size(), setattr ? 8u : 4u);
  });
}

TEST_P(EveryOperation, ArgumentsRoundTripAndFaultWhenCut) {
  with_signature(number(), []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      rpc::testing::check_codec<Args>(encoded(rpc::testing::any<Args>(arena)));
    }));
  });
}

TEST_P(EveryOperation, ResultsRoundTripAndFaultWhenCut) {
  with_signature(number(), []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      Res result = rpc::testing::any<Res>(arena);
      // Most of a hundred statuses are void; half of the cases are of the arm that is not.
      if (*rc::gen::arbitrary<bool>()) result.status = Status::NFS4_OK;
      rpc::testing::check_codec<Res>(encoded(result));
    }));
  });
}

TEST_P(EveryOperation, UnknownStatusIsBadEnum) {
  with_signature(number(), []<class Args, class Res>(Signature<Args, Res>) {
    Res result{};
    result.status = static_cast<Status>(10073);
    const wire::Fault fault = fault_of<Res>(encoded(result));
    EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
    EXPECT_EQ(fault.offset, 0u);
    EXPECT_EQ(fault.field, "status");
  });
}

INSTANTIATE_TEST_SUITE_P(Rfc8881, EveryOperation, ::testing::ValuesIn(kSizes),
                         [](const auto& test) { return std::string(test.param.operation); });

TEST(Operations, AreNumberedInOrder) {
  EXPECT_EQ(std::size(kSizes), 56u);
  for (std::uint32_t i = 0; i < std::size(kSizes); ++i) {
    const auto number = operation_numbered(i + 3);
    ASSERT_TRUE(number) << i;
    EXPECT_EQ(rpc::name(*number), kSizes[i].operation);
    EXPECT_EQ(operation_named(kSizes[i].operation), number);
  }
  EXPECT_EQ(operation_numbered(10044), Opnum::OP_ILLEGAL);
  EXPECT_FALSE(operation_numbered(2));
  EXPECT_FALSE(operation_numbered(59));
  EXPECT_FALSE(operation_named("NULL"));
}

TEST(Operations, MinorVersions) {
  EXPECT_TRUE(is_defined(Opnum::OP_SETCLIENTID, 0));
  EXPECT_TRUE(is_defined(Opnum::OP_SETCLIENTID, 1)) << "NFS4ERR_NOTSUPP, not OP_ILLEGAL";
  EXPECT_TRUE(is_defined(Opnum::OP_RELEASE_LOCKOWNER, 0));
  EXPECT_FALSE(is_defined(Opnum::OP_BACKCHANNEL_CTL, 0));
  EXPECT_TRUE(is_defined(Opnum::OP_RECLAIM_COMPLETE, 1));
  EXPECT_FALSE(is_defined(static_cast<Opnum>(59), 1));
}

}  // namespace
}  // namespace steertag::nfs4
