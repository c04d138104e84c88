// Shared by the ports, connections and listeners of one provider.
#pragma once

#include <random>

#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/network/route.h"
#include "fabric/roce/packets/limits.h"
#include "fabric/roce/ports.h"
#include "fabric/software/software_core.h"
#include "net/source_quota.h"

namespace steertag::fabric::roce {

struct Runtime final : SoftwareCore {
  Runtime(RandomSource source, const fabric::Limits& bounds, OpenDatagrams opener, FindRoute finder,
          Reactor opened)
      : SoftwareCore(source, bounds, std::move(opened)),
        random(std::move(source)),
        numbers(random()),
        startups(bounds.startups, random),
        open(std::move(opener)),
        find_route(std::move(finder)),
        ports(*this) {}

  void after_turns() override { ports.flush(); }
  void sweep() override {
    ended.clear();
    ports.flush();
    ports.sweep();
  }

  RandomSource random;
  // Of connections and queue pairs. Testers whose steering tags have one seed need other ones here:
  // Linux knows a peer by them and its GUID, not by its address.
  std::mt19937_64 numbers;
  net::SourceQuota startups;  // requests whose connection is not established
  OpenDatagrams open;
  FindRoute find_route;
  Ports ports;  // destroyed first: sessions use the reactor
};

}  // namespace steertag::fabric::roce
