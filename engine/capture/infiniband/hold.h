// Packets of one connection that wait for others, in the order in which they are due.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "capture/feed.h"
#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// Packets and octets that one connection may hold back: what arrives in a round trip of a fast
/// network, or of a slow one without much traffic.
inline constexpr std::size_t kMostHeldPackets = 256;
inline constexpr std::size_t kMostHeldBytes = std::size_t{1} << 20;

struct HeldPacket : KeptPacket {
  HeldPacket(Side from, const TransportPacket& held) : KeptPacket(held), sender(from) {}

  Side sender;
  bool refused = false;  // its receiver asked for it again: this copy of it was not accepted
};

class Hold {
 public:
  bool empty() const { return held_.empty(); }
  bool over_limits() const { return held_.size() > kMostHeldPackets || bytes_ > kMostHeldBytes; }
  std::size_t bytes() const { return bytes_; }
  const HeldPacket& front() const { return held_.front(); }
  HeldPacket take_front();
  /// Puts the packet before those that cannot have been sent before it: later requests or responses
  /// of its sender, and responses to it. A request that is already held stays as it is, unless that
  /// was refused.
  void insert(Side sender, const TransportPacket& packet);
  /// Requests of `sender` from this number on were not accepted by their receiver.
  void refuse(Side sender, std::uint32_t psn);
  /// The number of the first request of `sender`.
  std::optional<std::uint32_t> first_request(Side sender) const;
  void clear();

 private:
  std::deque<HeldPacket> held_;
  std::size_t bytes_ = 0;
};

}  // namespace steertag::capture::infiniband
