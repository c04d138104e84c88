// Messages of one connection that were copied out of shared receives.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/bytes.h"

namespace steertag::peer {

/// As many as the connection would have receives of its own, and no memory for those that are not
/// in use.
class MessageCopies {
 public:
  void allow(std::uint32_t more) { most_ += more; }
  /// Its number, or none if there are as many as may be.
  std::optional<std::uint32_t> add(View message);
  MutableView at(std::uint32_t number) { return copies_[number]; }
  void remove(std::uint32_t number) { free_.push_back(number); }
  /// Gives memory back. Only while there are none.
  void release();

 private:
  std::uint32_t most_ = 0;
  std::vector<Bytes> copies_;
  std::vector<std::uint32_t> free_;
};

}  // namespace steertag::peer
