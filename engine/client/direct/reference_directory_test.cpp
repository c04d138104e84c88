// Tests of the directory of references: by file and block, its limit, and the end of a reference.
#include "client/direct/reference_directory.h"

#include <gtest/gtest.h>

namespace steertag::peer {
namespace {

using namespace std::chrono_literals;
using UseTime = ReferenceDirectory::Time;

direct::Reference numbered(std::uint64_t generation) {
  return {1, 2, generation, 0, 65536};
}

TEST(ReferenceDirectory, KnowsFilesAndBlocksApart) {
  ReferenceDirectory directory;
  directory.put(1, 0, numbered(10), UseTime(1s));
  directory.put(1, 1, numbered(11), UseTime(1s));
  directory.put(2, 0, numbered(20), UseTime(1s));
  EXPECT_EQ(directory.find(1, 1, UseTime())->generation, 11U);
  EXPECT_EQ(directory.find(2, 0, UseTime())->generation, 20U);
  EXPECT_FALSE(directory.find(2, 1, UseTime()));
  directory.put(2, 0, numbered(21), UseTime(1s));
  EXPECT_EQ(directory.find(2, 0, UseTime())->generation, 21U);
  directory.erase(2, 0);
  EXPECT_FALSE(directory.find(2, 0, UseTime()));
  EXPECT_TRUE(directory.find(1, 0, UseTime()));
}

TEST(ReferenceDirectory, TheLeastRecentlyUsedMakesRoom) {
  constexpr std::size_t kLimit = 8;
  ReferenceDirectory directory(kLimit);
  for (std::uint64_t block = 0; block < 1000; ++block) {
    directory.put(1, block, numbered(block), UseTime(1s));
    EXPECT_TRUE(directory.find(1, 0, UseTime())) << "the most recently used, at block " << block;
  }
  EXPECT_EQ(directory.size(), kLimit);
  EXPECT_FALSE(directory.find(1, 500, UseTime()));
  EXPECT_TRUE(directory.find(1, 999, UseTime()));
}

TEST(ReferenceDirectory, ReferencesEnd) {
  ReferenceDirectory directory;
  directory.put(1, 0, numbered(10), UseTime(5s));
  EXPECT_TRUE(directory.find(1, 0, UseTime(5s - 1ns)));
  EXPECT_FALSE(directory.find(1, 0, UseTime(5s)));
  EXPECT_EQ(directory.size(), 0U);
}

TEST(ReferenceDirectory, BlocksWithoutAKeyAreNotKept) {
  ReferenceDirectory directory;
  directory.put(1, std::uint64_t{1} << 32, numbered(10), UseTime(5s));
  EXPECT_EQ(directory.size(), 0U);
  EXPECT_FALSE(directory.find(1, std::uint64_t{1} << 32, UseTime()));
}

}  // namespace
}  // namespace steertag::peer
