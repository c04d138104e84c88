// Tests of every argument and result of NFS version 3: sizes by the RFC, round trips, truncation.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/nfs3_procedures.h"
#include "rpc/testing.h"

namespace steertag::nfs3 {
namespace {

using rpc::testing::encoded;
using rpc::testing::fault_of;

/// Octets of default values (empty handles and names, nothing optional), counted by hand from the
/// XDR of RFC 1813 3.3. They are of arguments, of a result with NFS3_OK and of one with NFS3ERR_IO.
struct Sizes {
  const char* procedure;
  std::size_t args;
  std::size_t ok;
  std::size_t fail;
};
constexpr Sizes kSizes[] = {
    {"NULL", 0, 0, 0},      {"GETATTR", 4, 88, 4},   {"SETATTR", 32, 12, 12},
    {"LOOKUP", 8, 16, 8},   {"ACCESS", 8, 12, 8},    {"READLINK", 4, 12, 8},
    {"READ", 16, 20, 8},    {"WRITE", 24, 28, 12},   {"CREATE", 36, 20, 12},
    {"MKDIR", 32, 20, 12},  {"SYMLINK", 36, 20, 12}, {"MKNOD", 36, 20, 12},
    {"REMOVE", 8, 12, 12},  {"RMDIR", 8, 12, 12},    {"RENAME", 16, 20, 20},
    {"LINK", 12, 16, 16},   {"READDIR", 24, 24, 8},  {"READDIRPLUS", 28, 24, 8},
    {"FSSTAT", 4, 60, 8},   {"FSINFO", 4, 56, 8},    {"PATHCONF", 4, 32, 8},
    {"COMMIT", 16, 20, 12},
};

class EveryProcedure : public ::testing::TestWithParam<Sizes> {
 protected:
  Procedure procedure() const { return *rpc::value_named<Procedure>(GetParam().procedure); }
};

TEST_P(EveryProcedure, HasTheSizesOfTheRfc) {
  with_signature(procedure(), [&]<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_EQ(encoded(Args{}).size(), GetParam().args);
    Res result{};
    EXPECT_EQ(encoded(result).size(), GetParam().ok);
    if constexpr (!std::is_same_v<Res, Void>) {
      result.status = Status::NFS3ERR_IO;
      EXPECT_EQ(encoded(result).size(), GetParam().fail);
    }
  });
}

TEST_P(EveryProcedure, ArgumentsRoundTripAndFaultWhenCut) {
  with_signature(procedure(), []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      rpc::testing::check_codec<Args>(encoded(rpc::testing::any<Args>(arena)));
    }));
  });
}

TEST_P(EveryProcedure, ResultsRoundTripAndFaultWhenCut) {
  with_signature(procedure(), []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      rpc::testing::check_codec<Res>(encoded(rpc::testing::any<Res>(arena)));
    }));
  });
}

TEST_P(EveryProcedure, UnknownStatusIsBadEnum) {
  with_signature(procedure(), []<class Args, class Res>(Signature<Args, Res>) {
    if constexpr (!std::is_same_v<Res, Void>) {
      Res result{};
      result.status = static_cast<Status>(3);
      const wire::Fault fault = fault_of<Res>(encoded(result));
      EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
      EXPECT_EQ(fault.offset, 0u);
      EXPECT_EQ(fault.field, "status");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Rfc1813, EveryProcedure, ::testing::ValuesIn(kSizes),
                         [](const auto& test) { return std::string(test.param.procedure); });

TEST(Procedures, AreTwentyTwoInOrder) {
  EXPECT_EQ(std::size(kSizes), 22u);
  for (std::uint32_t number = 0; number < std::size(kSizes); ++number) {
    const auto procedure = rpc::value_numbered<Procedure>(number);
    ASSERT_TRUE(procedure) << number;
    EXPECT_EQ(rpc::name(*procedure), kSizes[number].procedure);
    EXPECT_EQ(rpc::value_named<Procedure>(kSizes[number].procedure), procedure);
  }
  EXPECT_FALSE(rpc::value_numbered<Procedure>(22));
  EXPECT_FALSE(rpc::value_named<Procedure>("ROOT"));
}

TEST(Status, NamesAreTheRfcs) {
  EXPECT_EQ(rpc::name(Status::NFS3_OK), "NFS3_OK");
  EXPECT_EQ(rpc::name(Status::NFS3ERR_NOENT), "NFS3ERR_NOENT");
  EXPECT_EQ(static_cast<std::uint32_t>(Status::NFS3ERR_JUKEBOX), 10008u);
  EXPECT_EQ(rpc::name(static_cast<Status>(12345)), "");
}

}  // namespace
}  // namespace steertag::nfs3
