// The octets that all connections together buffer behind holes in their streams.
#pragma once

#include <cstddef>

namespace steertag::capture::iwarp {

/// A capture may hold a thousand connections, each with megabytes behind a hole. A limit for each
/// connection would not limit the sum.
inline constexpr std::size_t kMostKeptBytesInAll = std::size_t{64} << 20;

class Budget {
 public:
  void take(std::size_t bytes) { used_ += bytes; }
  void give(std::size_t bytes) { used_ -= bytes; }
  bool exceeded() const { return used_ > kMostKeptBytesInAll; }

 private:
  std::size_t used_ = 0;
};

}  // namespace steertag::capture::iwarp
