// Parts of a striped file: which octets are where, and what the end of a data server changes.
#include "client/v4/pnfs/striped_file.h"

#include <gtest/gtest.h>

namespace steertag::peer::testing {
namespace {

using nfs4::LayoutIomode;

TEST(LayoutScopeTest, HasTheOctetsOfItsRange) {
  const LayoutScope whole{LayoutIomode::LAYOUTIOMODE4_RW, 0, kToTheEnd};
  EXPECT_EQ(whole.left_from(0), kToTheEnd);
  EXPECT_EQ(whole.left_from(10), kToTheEnd - 10);
  const LayoutScope part{LayoutIomode::LAYOUTIOMODE4_RW, 100, 50};
  EXPECT_EQ(part.left_from(99), 0U);
  EXPECT_EQ(part.left_from(100), 50U);
  EXPECT_EQ(part.left_from(149), 1U);
  EXPECT_EQ(part.left_from(150), 0U);
  EXPECT_EQ(part.left_from(kToTheEnd), 0U);
}

TEST(LayoutScopeTest, OverlapsByIomodeAndRange) {
  const auto scope = [](LayoutIomode iomode, std::uint64_t offset, std::uint64_t length) {
    return LayoutScope{iomode, offset, length};
  };
  const LayoutScope part = scope(LayoutIomode::LAYOUTIOMODE4_READ, 100, 50);
  EXPECT_TRUE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_ANY, 0, kToTheEnd)));
  EXPECT_TRUE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_READ, 149, 1)));
  EXPECT_TRUE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_READ, 90, 11)));
  EXPECT_FALSE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_READ, 150, 1)));
  EXPECT_FALSE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_READ, 90, 10)));
  EXPECT_FALSE(part.overlaps(scope(LayoutIomode::LAYOUTIOMODE4_RW, 100, 50)));
}

TEST(StripedFileTest, AnotherVerifierOfOnePlaceIsAnotherOfTheFile) {
  StripedFile file;
  const WriteVerifier before = file.verifier;
  const WrittenPlace here{nullptr, "a"};
  const WrittenPlace there{nullptr, "b"};
  note_unstable(file, here, {7, false});
  note_unstable(file, there, {8, false});
  note_unstable(file, here, {7, false});
  EXPECT_EQ(file.verifier, before);
  note_unstable(file, there, {9, false});
  EXPECT_NE(file.verifier, before);
  EXPECT_EQ(file.unstable.size(), 2U);
}

TEST(StripedFileTest, WithoutASegmentThereIsNoPart) {
  StripedFile file;
  EXPECT_FALSE(find_part(file, 0, 1, false));
}

}  // namespace
}  // namespace steertag::peer::testing
