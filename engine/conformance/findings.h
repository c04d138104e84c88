// Collects findings up to their limit; texts are built only for findings that are kept.
#pragma once

#include <vector>

#include "conformance/finding.h"
#include "conformance/rule.h"

namespace steertag::conformance {

/// Most findings kept for one connection until they are taken; further ones are counted only.
inline constexpr std::size_t kMostFindings = 256;

class Findings {
 public:
  /// A new finding whose texts the caller fills in at once, or nullptr when the limit is reached.
  /// The pointer is good until the next call.
  Finding* open(const Rule& rule, trace::Role culprit, std::uint64_t event);

  const std::vector<Finding>& all() const { return all_; }
  std::size_t dropped() const { return dropped_; }
  /// Gives all away, and has room for as many again. `into` is replaced.
  void take(std::vector<Finding>& into);

 private:
  std::vector<Finding> all_;
  std::size_t dropped_ = 0;
};

}  // namespace steertag::conformance
