// How often each rank is chosen, against the law.
#include "client/bench/zipf_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace steertag::peer {
namespace {

constexpr std::size_t kItems = 1000;
constexpr double kAlpha = 0.9;
constexpr std::size_t kChoices = 200'000;

std::vector<std::size_t> counts(ZipfChoice& choice, std::size_t items) {
  std::vector<std::size_t> found(items);
  for (std::size_t i = 0; i < kChoices; ++i) ++found.at(choice.next());
  return found;
}

TEST(ZipfChoiceTest, FirstRanksAreAsFrequentAsTheLawSays) {
  ZipfChoice choice(kItems, kAlpha, 1);
  const std::vector<std::size_t> found = counts(choice, kItems);
  double sum = 0;
  for (std::size_t rank = 1; rank <= kItems; ++rank)
    sum += std::pow(static_cast<double>(rank), -kAlpha);
  for (const std::size_t rank : {1U, 2U, 3U, 5U, 10U, 100U}) {
    const double expected = std::pow(static_cast<double>(rank), -kAlpha) / sum * kChoices;
    // Five standard deviations.
    EXPECT_NEAR(static_cast<double>(found[choice.item(rank)]), expected, 5 * std::sqrt(expected))
        << "rank " << rank;
  }
}

TEST(ZipfChoiceTest, WithoutAnExponentAllAreAlike) {
  constexpr std::size_t kFew = 4;
  ZipfChoice choice(kFew, 0, 2);
  for (const std::size_t count : counts(choice, kFew))
    EXPECT_NEAR(static_cast<double>(count), kChoices / kFew, kChoices / 100);
}

TEST(ZipfChoiceTest, EachItemHasOneRankAndTheFirstRanksAreNotTheFirstItems) {
  const ZipfChoice choice(kItems, kAlpha, 3);
  std::set<std::size_t> items;
  std::size_t in_place = 0;
  for (std::size_t rank = 1; rank <= kItems; ++rank) {
    items.insert(choice.item(rank));
    in_place += choice.item(rank) == rank - 1 ? 1 : 0;
  }
  EXPECT_EQ(items.size(), kItems);
  EXPECT_EQ(*items.rbegin(), kItems - 1);
  EXPECT_LT(in_place, 10U);
}

TEST(ZipfChoiceTest, OneSeedIsOneSequence) {
  ZipfChoice first(kItems, kAlpha, 4);
  ZipfChoice second(kItems, kAlpha, 4);
  ZipfChoice other(kItems, kAlpha, 5);
  std::size_t alike = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::size_t item = first.next();
    EXPECT_EQ(item, second.next());
    alike += item == other.next() ? 1 : 0;
  }
  EXPECT_LT(alike, 100U);
}

TEST(ZipfChoiceTest, OneItemIsChosenAlways) {
  ZipfChoice choice(1, kAlpha, 6);
  EXPECT_EQ(choice.next(), 0U);
  EXPECT_EQ(choice.next(), 0U);
}

}  // namespace
}  // namespace steertag::peer
