// Tests of every operation of COMPOUND: sizes by the RFC, round trips, truncation.
#include "nfs/v4/testing/signature_checks.h"

namespace steertag::nfs4 {
namespace {

using testing::Sizes;

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
    {"SETATTR", 24, 8, 8},  // no union: attrsset is always there
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
  testing::check_sizes(number(), GetParam());
}

TEST_P(EveryOperation, ArgumentsRoundTripAndFaultWhenCut) {
  testing::check_arguments(number());
}

TEST_P(EveryOperation, ResultsRoundTripAndFaultWhenCut) {
  testing::check_result(number());
}

TEST_P(EveryOperation, UnknownStatusIsBadEnum) {
  testing::check_unknown_status(number());
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
