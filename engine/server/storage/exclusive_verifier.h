// The verifier of an exclusive CREATE or OPEN (RFC 1813 3.3.8, RFC 7530 16.16.5, RFC 8881 18.16.3).
// The two times of the new file keep it, which are free until the client sets them.
#pragma once

#include <array>

#include "server/storage/backend.h"

namespace steertag::peer {

/// Of each time 31 bits are in the seconds, because many file systems keep no more. The last bit is
/// a quarter or three quarters of a second. One whose times have only whole seconds makes a retry
/// look like another client's request; no file system makes two verifiers equal.
struct VerifierTimes {
  explicit VerifierTimes(const std::array<std::byte, 8>& verifier);
  /// Whether the file was made with this verifier, and nothing was done with it since.
  bool are_of(const Attributes& attributes) const;

  Time atime;
  Time mtime;
};

}  // namespace steertag::peer
