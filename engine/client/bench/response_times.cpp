// Classes of response times.
#include "client/bench/response_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace steertag::peer {

std::size_t ResponseTimes::class_of(std::uint64_t time_ns) {
  const std::uint64_t time = std::min(time_ns, (std::uint64_t{1} << kLongestBits) - 1);
  const auto bits = static_cast<unsigned>(std::bit_width(time));
  const unsigned shift = bits > kExactBits ? bits - kExactBits : 0;
  return shift * kClassesOfDoubling + static_cast<std::size_t>(time >> shift);
}

std::uint64_t ResponseTimes::longest_of(std::size_t index) {
  if (index < 2 * kClassesOfDoubling) return index;
  const std::size_t shift = index / kClassesOfDoubling - 1;
  const std::uint64_t place = index - shift * kClassesOfDoubling;
  return ((place + 1) << shift) - 1;
}

void ResponseTimes::add(std::chrono::nanoseconds time) {
  ++counts_[class_of(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)))];
  ++count_;
}

std::chrono::nanoseconds ResponseTimes::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t index = 0; index < kClasses; ++index) {
    seen += counts_[index];
    if (counts_[index] > 0 && seen >= wanted)
      return std::chrono::nanoseconds(static_cast<std::int64_t>(longest_of(index)));
  }
  return {};
}

}  // namespace steertag::peer
