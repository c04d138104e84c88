// Response times of calls: quantiles of any number of them, in the same memory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace steertag::peer {

class ResponseTimes {
 public:
  void add(std::chrono::nanoseconds time);
  std::uint64_t count() const { return count_; }
  /// The time within which this share (0 to 1) of the calls had their replies, at most 1.6 % too
  /// long. 0 without calls.
  std::chrono::nanoseconds quantile(double share) const;

 private:
  // Classes are as wide as 1 ns up to 2^kExactBits, and 1/64 of their place beyond.
  static constexpr unsigned kExactBits = 7;
  static constexpr unsigned kLongestBits = 42;  // longer times, from 73 minutes on, count as these
  static constexpr std::size_t kClassesOfDoubling = std::size_t{1} << (kExactBits - 1);
  static constexpr std::size_t kClasses =
      kClassesOfDoubling * (kLongestBits - kExactBits) + 2 * kClassesOfDoubling;

  static std::size_t class_of(std::uint64_t time_ns);
  /// The longest time of a class.
  static std::uint64_t longest_of(std::size_t index);

  std::array<std::uint64_t, kClasses> counts_{};
  std::uint64_t count_ = 0;
};

}  // namespace steertag::peer
