// Shared by the connections and listeners of one provider.
#pragma once

#include <memory>
#include <vector>

#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/linger.h"
#include "fabric/iwarp/startup_quota.h"
#include "fabric/net_names.h"
#include "fabric/software/memory_region.h"

namespace steertag::fabric::iwarp {

class IwarpConnection;

/// Receive buffer for octets without a destination. All connections share it: octets are consumed
/// before the next connection reads, so an idle connection needs none.
inline constexpr std::size_t kScratchBytes = 64 * 1024;

struct Runtime {
  Runtime(RandomSource random, const Limits& bounds, Reactor opened)
      : limits(bounds),
        reactor(std::move(opened)),
        stags(random),
        lingering(reactor),
        startups(bounds.startups, std::move(random)) {}

  Limits limits;
  Reactor reactor;
  StagTable stags;
  LingeringSockets lingering;
  StartupQuota startups;
  std::vector<std::byte> scratch = std::vector<std::byte>(kScratchBytes);
  std::vector<std::byte> joined;                // a gathered message in one piece, for observers
  std::vector<IwarpConnection*> unsettled;      // have octets to send, or a pending notification
  std::vector<std::unique_ptr<Channel>> ended;  // destroyed when no call of theirs is running
  std::size_t notices = 0;                      // in the current poll
};

}  // namespace steertag::fabric::iwarp
