// Octets that all connections together keep because something before them has not come yet.
#pragma once

#include <cstddef>

namespace steertag::capture::iwarp {

/// A capture may hold a thousand connections, each with a hole in front of megabytes; what one
/// connection may keep says nothing about their sum.
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
