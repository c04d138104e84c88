// The pool of registered memory: what a loan holds.
#include "endpoint/region_pool.h"

#include <algorithm>

#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class RegionPoolTest : public PeerTest {
 protected:
  std::unique_ptr<fabric::Domain> domain = provider->make_domain();
  RegionPool pool{*domain, 1 << 20};
};

TEST_F(RegionPoolTest, LoansComeZeroed) {
  PooledRegion first = pool.acquire(5000, {});
  const std::byte* place = first->bytes().data();
  std::ranges::fill(first->bytes(), std::byte{0x55});
  first.release();
  const PooledRegion second = pool.acquire(6000, {});
  ASSERT_EQ(second->bytes().data(), place) << "this test is about a region that is used again";
  EXPECT_EQ(std::ranges::count(second->bytes(), std::byte{0}),
            static_cast<std::ptrdiff_t>(second->bytes().size()))
      << "octets of an earlier loan are left";
}

TEST_F(RegionPoolTest, LoansOfAnyContentsAreNotCleared) {
  PooledRegion first = pool.acquire(5000, {});
  const std::byte* place = first->bytes().data();
  std::ranges::fill(first->bytes(), std::byte{0x55});
  first.release();
  PooledRegion second = pool.acquire(5000, {}, nullptr, Contents::any);
  ASSERT_EQ(second->bytes().data(), place) << "this test is about a region that is used again";
  EXPECT_EQ(second->bytes().front(), std::byte{0x55});
  second.release();
  const PooledRegion third = pool.acquire(5000, {});
  ASSERT_EQ(third->bytes().data(), place);
  EXPECT_EQ(std::ranges::count(third->bytes(), std::byte{0x55}), 0);
}

}  // namespace
}  // namespace steertag::peer::testing
