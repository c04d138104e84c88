// Tests of every operation of CB_COMPOUND: sizes by the RFC, round trips, truncation.
#include "nfs/v4/testing/signature_checks.h"

namespace steertag::nfs4 {
namespace {

using testing::Sizes;

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
  testing::check_sizes(number(), GetParam());
}

TEST_P(EveryCallback, ArgumentsRoundTripAndFaultWhenCut) {
  testing::check_arguments(number());
}

TEST_P(EveryCallback, ResultsRoundTripAndFaultWhenCut) {
  testing::check_result(number());
}

TEST_P(EveryCallback, UnknownStatusIsBadEnum) {
  testing::check_unknown_status(number());
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
