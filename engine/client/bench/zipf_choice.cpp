// The distribution function of the ranks, inverted by a search.
#include "client/bench/zipf_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace steertag::peer {
namespace {

/// A number from 0 to below 1, of as many bits as a double has. The distributions of <random>
/// differ between libraries.
double fraction(std::uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

}  // namespace

ZipfChoice::ZipfChoice(std::size_t count, double alpha, std::uint64_t seed)
    : random_(seed), up_to_(count), items_(count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    up_to_[i] = sum += std::pow(static_cast<double>(i + 1), -alpha);
  std::iota(items_.begin(), items_.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i)
    std::swap(items_[i - 1], items_[static_cast<std::size_t>(random_() % i)]);
}

std::size_t ZipfChoice::next_rank() {
  const double at = fraction(random_()) * up_to_.back();
  const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), at);
  const auto rank = static_cast<std::size_t>(found - up_to_.begin()) + 1;
  return std::min(rank, up_to_.size());  // of a product that was rounded up
}

}  // namespace steertag::peer
