// What a software provider shares with its connections.
#pragma once

#include <memory>
#include <vector>

#include "fabric/provider/provider_core.h"
#include "fabric/software/memory_region.h"

namespace steertag::fabric::software {

struct SoftwareCore : ProviderCore {
  SoftwareCore(RandomSource random, const Limits& bounds, Reactor opened)
      : ProviderCore(bounds, std::move(opened)), stags(std::move(random)) {}

  StagTable stags;
  std::vector<std::byte> joined;                // a gathered message in one piece, for observers
  std::vector<std::unique_ptr<Channel>> ended;  // destroyed when no call of theirs is running
};

}  // namespace steertag::fabric::software
