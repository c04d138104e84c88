// Tests of every operation of CB_COMPOUND: sizes by the RFC, round trips, truncation.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/v4/callbacks.h"
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
    {"CB_GETATTR", 8, 12},
    {"CB_RECALL", 24, 4},
    {"CB_LAYOUTRECALL", 16, 4},
    {"CB_NOTIFY", 24, 4},
    {"CB_PUSH_DELEG", 8, 4},
    {"CB_RECALL_ANY", 8, 4},
    {"CB_RECALLABLE_OBJ_AVAIL", 8, 4},
    {"CB_RECALL_SLOT", 4, 4},
    {"CB_SEQUENCE", 36, 36},
    {"CB_WANTS_CANCELLED", 8, 4},
    {"CB_NOTIFY_LOCK", 16, 4},
    {"CB_NOTIFY_DEVICEID", 4, 4},
};

class EveryCallback : public ::testing::TestWithParam<Sizes> {
 protected:
  CbOpnum number() const { return *callback_named(GetParam().operation); }
};

TEST_P(EveryCallback, HasTheSizesOfTheRfc) {
  with_signature(number(), [&]<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_EQ(encoded(Args{}).size(), GetParam().args);
    Res result{};
    EXPECT_EQ(encoded(result).size(), GetParam().ok);
    result.status = Status::NFS4ERR_IO;
    EXPECT_EQ(encoded(result).size(), 4u);
  });
}

TEST_P(EveryCallback, ArgumentsRoundTripAndFaultWhenCut) {
  with_signature(number(), []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      rpc::testing::check_codec<Args>(encoded(rpc::testing::any<Args>(arena)));
    }));
  });
}

TEST_P(EveryCallback, ResultsRoundTripAndFaultWhenCut) {
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

TEST_P(EveryCallback, UnknownStatusIsBadEnum) {
  with_signature(number(), []<class Args, class Res>(Signature<Args, Res>) {
    Res result{};
    result.status = static_cast<Status>(10073);
    const wire::Fault fault = fault_of<Res>(encoded(result));
    EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
    EXPECT_EQ(fault.offset, 0u);
    EXPECT_EQ(fault.field, "status");
  });
}

INSTANTIATE_TEST_SUITE_P(Rfc8881, EveryCallback, ::testing::ValuesIn(kSizes),
                         [](const auto& test) { return std::string(test.param.operation); });

TEST(Callbacks, AreNumberedInOrder) {
  EXPECT_EQ(std::size(kSizes), 12u);
  for (std::uint32_t i = 0; i < std::size(kSizes); ++i) {
    const auto number = callback_numbered(i + 3);
    ASSERT_TRUE(number) << i;
    EXPECT_EQ(rpc::name(*number), kSizes[i].operation);
    EXPECT_EQ(callback_named(kSizes[i].operation), number);
  }
  EXPECT_EQ(callback_numbered(10044), CbOpnum::OP_CB_ILLEGAL);
  EXPECT_FALSE(callback_numbered(2));
  EXPECT_FALSE(callback_numbered(15));
  EXPECT_FALSE(callback_named("NULL"));
}

TEST(Callbacks, MinorVersions) {
  EXPECT_TRUE(is_defined(CbOpnum::OP_CB_RECALL, 0));
  EXPECT_FALSE(is_defined(CbOpnum::OP_CB_SEQUENCE, 0));
  EXPECT_TRUE(is_defined(CbOpnum::OP_CB_SEQUENCE, 1));
}

}  // namespace
}  // namespace steertag::nfs4
