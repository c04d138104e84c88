// Octets of replies that have not left, of all connections of a server.
#pragma once

#include <cstddef>

#include "endpoint/limits.h"

namespace steertag::peer {

class ReplyBudget {
 public:
  explicit ReplyBudget(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}

  /// Whether a connection that holds `own_bytes` may make another reply.
  bool allows(std::size_t own_bytes) const {
    return own_bytes == 0 ||
           (own_bytes < budget_bytes_ / kReplyShares && held_bytes_ < budget_bytes_);
  }
  void take(std::size_t bytes) { held_bytes_ += bytes; }
  void give_back(std::size_t bytes) { held_bytes_ -= bytes; }
  std::size_t held_bytes() const { return held_bytes_; }

 private:
  std::size_t budget_bytes_;
  std::size_t held_bytes_ = 0;
};

}  // namespace steertag::peer
