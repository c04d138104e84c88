// Collects findings up to a limit; only findings that are kept get texts.
#pragma once

#include <vector>

#include "conformance/finding.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

/// At most this many findings of a connection are kept until they are taken. Further ones are only
/// counted.
inline constexpr std::size_t kMostFindings = 256;

class Findings {
 public:
  /// Adds a finding, whose texts the caller sets. Returns nullptr at the limit. The pointer is
  /// valid until the next call.
  Finding* open(const Rule& rule, trace::Role culprit, std::uint64_t event);

  const std::vector<Finding>& all() const { return all_; }
  std::size_t dropped() const { return dropped_; }
  /// Moves all findings to `into`, which is replaced, and makes room for new ones.
  void take(std::vector<Finding>& into);

 private:
  std::vector<Finding> all_;
  std::size_t dropped_ = 0;
};

}  // namespace steertag::conformance
