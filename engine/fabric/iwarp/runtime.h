// Shared by the connections and listeners of one provider.
#pragma once

#include <vector>

#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/linger.h"
#include "fabric/software/software_core.h"

namespace steertag::fabric::iwarp {

/// Receive buffer for octets without a destination. All connections share it: octets are consumed
/// before the next connection reads, so an idle connection needs none.
inline constexpr std::size_t kScratchBytes = 64 * 1024;

struct Runtime final : SoftwareCore {
  Runtime(RandomSource random, const Limits& bounds, Reactor opened)
      : SoftwareCore(random, bounds, std::move(opened)),
        lingering(reactor),
        startups(bounds.startups, std::move(random)) {}

  void sweep() override {
    lingering.sweep();
    ended.clear();
  }

  LingeringSockets lingering;
  net::SourceQuota startups;
  std::vector<std::byte> scratch = std::vector<std::byte>(kScratchBytes);
};

}  // namespace steertag::fabric::iwarp
