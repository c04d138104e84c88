// Who a client says it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steertag::peer {

/// AUTH_NONE, or AUTH_SYS with these values.
struct Identity {
  bool auth_sys = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string machine_name = "steertag";
  std::vector<std::uint32_t> gids{};  // at most rpc::kMostGroups are sent
};

}  // namespace steertag::peer
