// What options of a server are possible.
#include "server/server_options.h"

#include <cmath>

#include "endpoint/announced_size.h"

namespace steertag::peer {
namespace {

// Longer waits are no time-outs any more.
constexpr double kLongestIdleTimeoutS = 86400;

}  // namespace

Expected<void, std::string> check(const ServerOptions& options) {
  if (options.credits < 1 || options.credits > kMostCredits)
    return Unexpected<std::string>(std::to_string(options.credits) + " credits: 1 to " +
                                   std::to_string(kMostCredits) + " can be granted");
  if (auto size = check_announced_size("send", options.announced.send_bytes); !size) return size;
  if (auto size = check_announced_size("receive", options.announced.receive_bytes); !size)
    return size;
  const std::uint64_t receives = std::uint64_t{options.credits} * options.announced.receive_bytes;
  if (receives > kMostReceiveBytes)
    return Unexpected<std::string>(std::to_string(options.credits) + " credits of " +
                                   std::to_string(options.announced.receive_bytes) +
                                   " octets: the receives of a connection " + "may take " +
                                   std::to_string(kMostReceiveBytes) + " octets together");
  if (options.shared_receives > kMostSharedReceives)
    return Unexpected<std::string>(std::to_string(options.shared_receives) +
                                   " shared receives: there can be " +
                                   std::to_string(kMostSharedReceives) + " at most");
  const std::uint64_t shared =
      std::uint64_t{options.shared_receives} * options.announced.receive_bytes;
  if (shared > kMostSharedReceiveBytes)
    return Unexpected<std::string>(
        std::to_string(options.shared_receives) + " shared receives of " +
        std::to_string(options.announced.receive_bytes) + " octets: they may take " +
        std::to_string(kMostSharedReceiveBytes) + " octets together");
  return {};
}

Expected<std::chrono::milliseconds, std::string> idle_timeout_of(double seconds) {
  if (!(seconds >= 0 && seconds <= kLongestIdleTimeoutS))  // not a number is neither
    return Unexpected<std::string>("an idle time-out is 0 to 86400 seconds");
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}

}  // namespace steertag::peer
