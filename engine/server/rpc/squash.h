// Who callers are, whatever their credentials say.
#pragma once

#include <cstdint>

#include "server/rpc/program.h"

namespace steertag::peer {

/// Callers that any client can claim to be are taken for another one.
struct Squash {
  enum class Of : std::uint8_t {
    none,
    root,  // uid 0 and gid 0, wherever AUTH_SYS has them
    all,   // every caller, without further groups; AUTH_NONE too
  };
  Of of = Of::none;
  std::uint32_t uid = Caller::kAnonymous;
  std::uint32_t gid = Caller::kAnonymous;
};

}  // namespace steertag::peer
