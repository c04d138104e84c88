// Notices a listing that goes round: a server may give the cookies of entries that were listed.
#pragma once

#include <cstdint>

namespace steertag::peer {

/// Remembers one place of the listing, and a later one after twice as many calls each time. It
/// notices a round after at most three times the calls of the round and of what came before it.
class CookieWatch {
 public:
  /// False if the listing has gone on from this cookie before.
  bool goes_on(std::uint64_t cookie) {
    if (cookie == remembered_) return false;
    if (++calls_ < distance_) return true;
    remembered_ = cookie;
    distance_ *= 2;
    calls_ = 0;
    return true;
  }

 private:
  std::uint64_t remembered_ = 0;  // where every listing begins
  std::uint64_t distance_ = 1;
  std::uint64_t calls_ = 0;
};

}  // namespace steertag::peer
