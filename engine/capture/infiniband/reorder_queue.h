// The reorder queue: packets of one connection that wait for earlier ones, in their order.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "capture/connection_classifier.h"
#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// At most this many packets and octets are queued for one connection. They cover a round trip of a
/// fast network, or of a slow one without much traffic.
inline constexpr std::size_t kMostReorderedPackets = 256;
inline constexpr std::size_t kMostReorderedBytes = std::size_t{1} << 20;

struct QueuedPacket : KeptPacket {
  QueuedPacket(Side from, const TransportPacket& queued) : KeptPacket(queued), sender(from) {}

  Side sender;
  bool refused = false;  // the receiver refused this copy and asked for a retransmission
};

class ReorderQueue {
 public:
  bool empty() const { return packets_.empty(); }
  bool over_limits() const {
    return packets_.size() > kMostReorderedPackets || bytes_ > kMostReorderedBytes;
  }
  std::size_t bytes() const { return bytes_; }
  const QueuedPacket& front() const { return packets_.front(); }
  QueuedPacket pop_front();
  /// Inserts the packet before those that cannot precede it: later requests or responses of its
  /// sender, and responses to it. A queued request stays unless it was refused.
  void insert(Side sender, const TransportPacket& packet);
  /// The receiver did not accept requests of `sender` from this PSN on.
  void refuse(Side sender, std::uint32_t psn);
  /// The PSN of the first queued request of `sender`.
  std::optional<std::uint32_t> first_request(Side sender) const;
  void clear();

 private:
  std::deque<QueuedPacket> packets_;
  std::size_t bytes_ = 0;
};

}  // namespace steertag::capture::infiniband
