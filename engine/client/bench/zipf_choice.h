// Chooses items by Zipf's law: few of them are wanted often, and many seldom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace steertag::peer {

/// Of `count` items, each has a rank k from 1 on. It is the next with a probability that is
/// proportional to 1 / k^alpha. One seed is one sequence.
class ZipfChoice {
 public:
  /// `count` is 1 or more, `alpha` 0 or more. Ranks are spread over the items by chance.
  ZipfChoice(std::size_t count, double alpha, std::uint64_t seed);

  /// An item, from 0 to count - 1.
  std::size_t next() { return item(next_rank()); }
  /// The item of a rank, from 1 on.
  std::size_t item(std::size_t rank) const { return items_[rank - 1]; }

 private:
  std::size_t next_rank();

  std::mt19937_64 random_;
  std::vector<double> up_to_;       // the sum of the weights up to each rank
  std::vector<std::size_t> items_;  // by rank
};

}  // namespace steertag::peer
