// Shared by the connections and listeners of one provider.
#pragma once

#include <memory>
#include <vector>

#include "fabric/verbs/device.h"
#include "fabric/verbs/event_channel.h"

namespace steertag::fabric::verbs {

class VerbsConnection;

struct Runtime {
  Runtime(const Limits& bounds, Reactor opened) : limits(bounds), reactor(std::move(opened)) {}

  Limits limits;
  Reactor reactor;
  std::unique_ptr<Device> device;  // set before anything uses it
  std::unique_ptr<EventChannel> events;
  std::vector<VerbsConnection*> unsettled;  // have queued work, or a pending notification
  std::size_t notices = 0;                  // in the current poll
};

}  // namespace steertag::fabric::verbs
