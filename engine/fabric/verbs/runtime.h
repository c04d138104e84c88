// Shared by the connections and listeners of one provider.
#pragma once

#include <memory>

#include "fabric/provider/provider_core.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/event_channel.h"

namespace steertag::fabric::verbs {

struct Runtime final : ProviderCore {
  using ProviderCore::ProviderCore;

  std::unique_ptr<Device> device;  // set before anything uses it
  std::unique_ptr<EventChannel> events;
};

}  // namespace steertag::fabric::verbs
