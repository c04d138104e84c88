// A network that drops, doubles, swaps and cuts packets.
#pragma once

#include <random>
#include <vector>

#include "fabric/roce/network/datagrams.h"

namespace steertag::fabric::roce {

/// Percent of all packets, each.
struct FaultRates {
  unsigned drop = 5;
  unsigned twice = 5;
  unsigned swap = 5;  // with the next one; without a next one it is lost
  unsigned cut = 5;
};

/// How many packets had which fault.
struct FaultCounts {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
  std::uint64_t doubled = 0;
  std::uint64_t swapped = 0;
  std::uint64_t cut = 0;
};

/// Faults of what leaves. The same seed and packets give the same faults.
class FaultyDatagrams final : public Datagrams {
 public:
  FaultyDatagrams(std::unique_ptr<Datagrams> network, const FaultRates& rates, std::uint64_t seed)
      : network_(std::move(network)), rates_(rates), random_(seed) {}

  int descriptor() const override { return network_->descriptor(); }
  const Address& local() const override { return network_->local(); }
  std::uint32_t mtu() const override { return network_->mtu(); }
  std::size_t send(std::span<const Outbound> packets) override;
  std::span<const Inbound> receive() override { return network_->receive(); }
  std::optional<Address> refusal() override { return network_->refusal(); }
  const FaultCounts& counts() const { return counts_; }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  std::unique_ptr<Datagrams> network_;
  FaultRates rates_;
  std::mt19937_64 random_;
  FaultCounts counts_;
  // The packet that the next one overtakes.
  Bytes held_;
  Address held_to_;
  bool holds_ = false;
  std::vector<Outbound> leaving_;
};

/// UDP sockets with these faults. Each network has another seed.
OpenDatagrams faulty_udp(const FaultRates& rates, std::uint64_t seed);

}  // namespace steertag::fabric::roce
