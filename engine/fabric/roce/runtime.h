// Shared by the ports, connections and listeners of one provider.
#pragma once

#include <memory>
#include <vector>

#include "fabric/net_names.h"
#include "fabric/roce/datagrams.h"
#include "fabric/roce/limits.h"
#include "fabric/roce/ports.h"
#include "fabric/software/memory_region.h"

namespace steertag::fabric::roce {

class RoceConnection;

struct Runtime {
  Runtime(RandomSource source, const fabric::Limits& bounds, OpenDatagrams opener, Reactor opened)
      : limits(bounds),
        reactor(std::move(opened)),
        random(source),
        stags(std::move(source)),
        open(std::move(opener)),
        ports(*this) {}

  fabric::Limits limits;
  Reactor reactor;
  RandomSource random;
  software::StagTable stags;
  OpenDatagrams open;
  std::vector<std::byte> joined;                // a gathered message in one piece, for observers
  std::vector<RoceConnection*> unsettled;       // have packets to send, or a pending notification
  std::vector<std::unique_ptr<Channel>> ended;  // destroyed when no call of theirs is running
  std::size_t notices = 0;                      // in the current poll
  Ports ports;                                  // destroyed first: sessions use the reactor
};

}  // namespace steertag::fabric::roce
