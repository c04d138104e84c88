// What carries a client's calls to one server.
#pragma once

#include <memory>

#include "client/rdma/call_schedule.h"
#include "fabric/fabric.h"

namespace steertag::peer {

/// The members depend on those before them.
struct CallWay {
  std::unique_ptr<fabric::Provider> provider{};  // none over TCP, or if it is another way's
  std::unique_ptr<ClientTransport> transport{};
  std::unique_ptr<CallSchedule> schedule{};
};

}  // namespace steertag::peer
