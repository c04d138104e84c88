// How many of a kind each source may hold: limits by source and of all, and early drop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/source.h"
#include "support/expected.h"

namespace steertag::net {

struct SourceLimits {
  /// Of all sources. All further ones are refused.
  std::size_t most = 0;
  /// Of one source: an IPv4 address, or the /64 network of an IPv6 address.
  std::size_t of_source = 0;
  /// Beyond it a new one is refused at random, with a probability that rises evenly to 1 at `most`.
  /// The same as `most`: nothing is refused at random.
  std::size_t early_drop = 0;
};

/// As MaxStartups and PerSourceMaxStartups of sshd_config(5).
///
/// A burst of refusals begins when a limit is reached, and ends when half of it is free again.
class SourceQuota {
  struct Count {
    std::size_t held = 0;
    bool in_burst = false;
  };
  using Counts = std::map<Source, Count>;
  struct GiveBack {
    SourceQuota* quota = nullptr;
    void operator()(Counts::value_type* source) const { quota->give_back(*source); }
  };

 public:
  /// One that is held, as long as it exists. The quota must outlive it.
  using Slot = std::unique_ptr<Counts::value_type, GiveBack>;
  struct Refusal {
    std::string reason;
    bool begins_burst = false;
  };

  /// `random` is asked for early drop alone.
  SourceQuota(const SourceLimits& limits, std::function<std::uint64_t()> random)
      : limits_(limits), random_(std::move(random)) {}
  SourceQuota(const SourceQuota&) = delete;
  SourceQuota& operator=(const SourceQuota&) = delete;

  Expected<Slot, Refusal> admit(const Address& peer);
  /// Of all sources.
  std::size_t held() const { return all_.held; }

 private:
  static Unexpected<Refusal> refuse(Count& count, std::string reason);
  bool drops_early();
  std::string reason_of_all() const;
  void give_back(Counts::value_type& source);

  SourceLimits limits_;
  std::function<std::uint64_t()> random_;
  Counts counts_;  // of sources that hold some
  Count all_;
};

}  // namespace steertag::net
