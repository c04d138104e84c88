// Memory of receives: what is resident, and what a release leaves.
#include "endpoint/receive_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace steertag::peer {
namespace {

/// Pages that are in memory.
std::ptrdiff_t resident(ReceiveMemory& memory) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((memory.size() + page - 1) / page);
  EXPECT_EQ(::mincore(memory.bytes().data(), memory.size(), pages.data()), 0);
  return std::ranges::count_if(pages, [](unsigned char each) { return (each & 1) != 0; });
}

TEST(ReceiveMemory, CostsOnlyThePagesThatAreUsed) {
  ReceiveMemory memory(std::size_t{1} << 20);
  EXPECT_EQ(resident(memory), 0);
  memory.bytes()[0] = std::byte{1};
  memory.bytes()[memory.size() - 1] = std::byte{2};
  EXPECT_EQ(resident(memory), 2);
}

TEST(ReceiveMemory, IsZeroAfterItsRelease) {
  ReceiveMemory memory(std::size_t{1} << 16);
  std::ranges::fill(memory.bytes(), std::byte{0xee});
  memory.release();
  EXPECT_EQ(resident(memory), 0);
  EXPECT_TRUE(
      std::ranges::all_of(memory.bytes(), [](std::byte each) { return each == std::byte{0}; }));
}

TEST(ReceiveMemory, MayBeEmpty) {
  ReceiveMemory memory;
  memory.release();
  EXPECT_TRUE(memory.empty());
  EXPECT_TRUE(memory.bytes().empty());
}

}  // namespace
}  // namespace steertag::peer
