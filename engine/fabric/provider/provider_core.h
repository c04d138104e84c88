// What every provider shares with its connections.
#pragma once

#include <utility>

#include "fabric/net_names.h"
#include "fabric/provider/turns.h"

namespace steertag::fabric {

struct ProviderCore {
  ProviderCore(const Limits& bounds, Reactor opened) : limits(bounds), reactor(std::move(opened)) {}
  virtual ~ProviderCore() = default;
  ProviderCore(const ProviderCore&) = delete;
  ProviderCore& operator=(const ProviderCore&) = delete;

  /// Behind the turns of a pass.
  virtual void after_turns() {}
  /// At the end of a round, when no call of a connection is running.
  virtual void sweep() {}

  Limits limits;
  Reactor reactor;
  Turns turns;              // connections with work, or with a pending notification
  std::size_t notices = 0;  // in the current poll
  /// Polls in a row that came at once after the one before: the owner's answer is likely to leave
  /// as soon.
  std::size_t prompt_polls = 0;
};

}  // namespace steertag::fabric
