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

TEST_F(RegionPoolTest, CachedLoansStayOpenForTheSameUse) {
  const auto lend = [&](std::size_t length, fabric::Rights rights) {
    PooledRegion loan = pool.acquire(length, rights, nullptr, Contents::any, Registration::cached);
    return loan->stag();
  };
  const std::uint32_t first = lend(5000, {false, true});
  EXPECT_EQ(lend(5000, {false, true}), first);
  EXPECT_NE(lend(5001, {false, true}), first) << "the peer may write an octet more or less";
  EXPECT_NE(lend(5000, {true, false}), first) << "the peer may read what it could write";
}

TEST_F(RegionPoolTest, MemoryForAnotherUseIsClosed) {
  for (const bool closes : {true, false}) {
    RegionPool own(*domain, 8192, {.closes_reused = closes});
    const auto lend = [&](fabric::Rights rights) {
      return own.acquire(4000, rights, nullptr, Contents::any, Registration::cached);
    };
    const std::byte* const place = lend({false, true})->bytes().data();
    // Where it stays open its memory cannot be that of the next loan.
    EXPECT_EQ(lend({true, false})->bytes().data() == place, closes);
  }
}

TEST_F(RegionPoolTest, ClosedLoansDoNotStayOpen) {
  PooledRegion loan =
      pool.acquire(5000, {false, true}, nullptr, Contents::any, Registration::cached);
  const std::uint32_t first = loan->stag();
  loan->invalidate();
  loan.release();
  loan = pool.acquire(5000, {false, true}, nullptr, Contents::any, Registration::cached);
  EXPECT_NE(loan->stag(), first);
}

TEST_F(RegionPoolTest, OpenMemoryMakesRoomForOtherLoans) {
  const auto lend = [&] {
    return pool.acquire(200'000, {false, true}, nullptr, Contents::any, Registration::cached);
  };
  std::vector<PooledRegion> loans;
  while (PooledRegion loan = lend()) loans.push_back(std::move(loan));
  ASSERT_EQ(loans.size(), 4U) << "the budget";
  const std::uint32_t first = loans.front()->stag();
  const std::uint32_t last = loans.back()->stag();
  loans.front().release();
  loans.back().release();
  PooledRegion other = pool.acquire(5000, {});
  ASSERT_TRUE(other) << "idle memory that is open takes the budget";
  const PooledRegion again = lend();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->stag(), last) << "the one that was used least recently is closed first";
  other.release();
  const PooledRegion more = lend();
  ASSERT_TRUE(more);
  EXPECT_NE(more->stag(), first) << "all memory together is beyond the budget";
}

TEST_F(RegionPoolTest, CloseIdleLeavesNothingOpen) {
  PooledRegion loan =
      pool.acquire(5000, {false, true}, nullptr, Contents::any, Registration::cached);
  const std::uint32_t first = loan->stag();
  loan.release();
  pool.close_idle();
  loan = pool.acquire(5000, {false, true}, nullptr, Contents::any, Registration::cached);
  EXPECT_NE(loan->stag(), first);
}

}  // namespace
}  // namespace steertag::peer::testing
