// Which accepted sockets may wait for their startup request: limits by source, and early drop.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "fabric/net_names.h"

namespace steertag::fabric::iwarp {

/// As MaxStartups and PerSourceMaxStartups of sshd_config(5). One provider has one quota for its
/// listeners.
///
/// A burst of refusals begins when a limit is reached, and ends when half of it is free again.
class StartupQuota {
  struct Count {
    std::size_t startups = 0;
    bool in_burst = false;
  };
  using Counts = std::map<Source, Count>;
  struct GiveBack {
    StartupQuota* quota = nullptr;
    void operator()(Counts::value_type* source) const { quota->give_back(*source); }
  };

 public:
  /// One startup, as long as it exists. The quota must outlive it.
  using Slot = std::unique_ptr<Counts::value_type, GiveBack>;
  struct Refusal {
    std::string reason;
    bool begins_burst = false;
  };

  StartupQuota(const StartupLimits& limits, RandomSource random)
      : limits_(limits), random_(std::move(random)) {}
  StartupQuota(const StartupQuota&) = delete;
  StartupQuota& operator=(const StartupQuota&) = delete;

  Expected<Slot, Refusal> admit(const Address& peer);
  std::size_t startups() const { return all_.startups; }

 private:
  static Unexpected<Refusal> refuse(Count& count, std::string reason);
  bool drops_early();
  void give_back(Counts::value_type& source);

  StartupLimits limits_;
  RandomSource random_;
  Counts counts_;  // of sources with startups
  Count all_;
};

}  // namespace steertag::fabric::iwarp
