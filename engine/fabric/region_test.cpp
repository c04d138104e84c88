// Regions of every provider that registers memory itself: tags, guards, life, reuse.
#include "fabric/region.h"

#include <gtest/gtest.h>

#include <set>

#include "fabric/testing/endpoint.h"

namespace steertag::fabric {
namespace {

class RegionTest : public ::testing::Test {
 protected:
  std::unique_ptr<Provider> provider = testing::iwarp_factory().make({}, {});
  std::unique_ptr<Domain> domain = provider->make_domain();
};

TEST_F(RegionTest, StartsZeroedBetweenGuards) {
  const auto region = domain->allocate(100, {true, false});
  ASSERT_EQ(region->bytes().size(), 100U);
  for (const std::byte octet : region->bytes()) {
    ASSERT_EQ(octet, std::byte{0});
  }
  EXPECT_TRUE(region->valid());
  EXPECT_TRUE(region->guards_intact());
  EXPECT_NE(region->stag(), 0U);
  EXPECT_TRUE(region->rights().remote_read);
  EXPECT_FALSE(region->rights().remote_write);
}

TEST_F(RegionTest, EveryGuardOctetIsWatched) {
  for (std::size_t i = 0; i < kGuardBytes; ++i) {
    for (const bool before : {true, false}) {
      const auto region = domain->allocate(10, {});
      std::byte* first = region->bytes().data();
      (before ? first[-1 - static_cast<std::ptrdiff_t>(i)] : first[10 + i]) ^= std::byte{1};
      EXPECT_FALSE(region->guards_intact()) << i << (before ? " before" : " behind");
      EXPECT_FALSE(region->invalidate()) << "invalidate tells the damage too";
    }
  }
}

TEST_F(RegionTest, ReopeningGivesAnotherTagAndFreshGuards) {
  const auto region = domain->allocate(10, {true, true});
  std::set<std::uint32_t> seen{region->stag()};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(region->invalidate());
    EXPECT_FALSE(region->valid());
    region->open({false, true});
    EXPECT_TRUE(region->valid());
    EXPECT_TRUE(seen.insert(region->stag()).second) << "an STag came twice";
  }
  region->bytes().data()[10] = std::byte{0};
  region->open({});
  EXPECT_TRUE(region->guards_intact()) << "damage of the former life";
}

TEST_F(RegionTest, BaseMayBeChosen) {
  const auto region = domain->allocate(10, {}, 0xfffffffffffffff0);
  EXPECT_EQ(region->base(), 0xfffffffffffffff0);
}

TEST_F(RegionTest, FreeStagMayBeChosen) {
  const auto first = domain->allocate(10, {}, {}, 0x12345678);
  EXPECT_EQ(first->stag(), 0x12345678U);
  const auto second = domain->allocate(10, {}, {}, 0x12345678);
  EXPECT_TRUE(second->valid());
  EXPECT_NE(second->stag(), first->stag());
  EXPECT_NE(domain->allocate(10, {}, {}, 0)->stag(), 0U);
}

TEST_F(RegionTest, TagsAreSpreadOverTheWholeRange) {
  std::set<std::uint32_t> quarters;
  std::vector<std::unique_ptr<Region>> regions;
  for (int i = 0; i < 64; ++i) {
    regions.push_back(domain->allocate(0, {}));
    quarters.insert(regions.back()->stag() >> 30);
  }
  EXPECT_EQ(quarters.size(), 4U);
}

TEST_F(RegionTest, BrokenRandomSourceStillGivesDistinctTags) {
  auto constant = make_provider("iwarp", [] { return std::uint64_t{0}; });
  ASSERT_TRUE(constant);
  const auto other = (*constant)->make_domain();
  const auto first = other->allocate(1, {});
  const auto second = other->allocate(1, {});
  EXPECT_NE(first->stag(), 0U);
  EXPECT_NE(first->stag(), second->stag());
}

}  // namespace
}  // namespace steertag::fabric
