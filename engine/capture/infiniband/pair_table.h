// The known connections by flow. Beyond its limits the least recently used one is evicted.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "capture/infiniband/flow_pair.h"

namespace steertag::capture::infiniband {

/// At most this many connections, including those of other protocols and those that ended.
inline constexpr std::size_t kMostConnections = 1024;

class PairTable {
 public:
  using Position = std::list<FlowPair>::iterator;
  struct Sender {
    Position pair;
    Side side = Side::a;
  };

  template <class... Arguments>
  Position add(Arguments&&... arguments) {
    pairs_.emplace_front(std::forward<Arguments>(arguments)...);
    return pairs_.begin();
  }
  /// From now on packets of this flow belong to that side of the pair.
  void index(Position pair, Side sender, const FlowKey& flow);
  std::optional<Sender> sender_of(const FlowKey& flow) const;
  /// The most recently used pair that satisfies `is`; end() if there is none.
  template <class Is>
  Position find(Is is) {
    Position pair = pairs_.begin();
    while (pair != pairs_.end() && !is(*pair)) ++pair;
    return pair;
  }
  Position end() { return pairs_.end(); }

  /// Call it after the pair's buffered octets may have changed.
  void recount(Position pair);
  /// Passes a packet to the connection.
  void read(const Sender& sender, const TransportPacket& packet);
  void remove(Position pair);
  /// A new connection uses this queue pair. All other users, except `but`, are over.
  void end_users(const Address& address, std::uint32_t queue_pair, const FrameStamp& stamp,
                 const FlowPair* but);
  /// Evicts connections until number and buffered octets are within their limits.
  void keep_limits(const FrameStamp& stamp, std::size_t most_bytes);
  /// The capture ends.
  void finish();

  /// Octets that the connections buffer.
  std::size_t buffered() const { return buffered_; }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  void forget(Position pair, const FrameStamp& stamp);

  std::list<FlowPair> pairs_;  // most recently used first
  std::unordered_map<FlowKey, Sender> senders_;
  std::size_t buffered_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace steertag::capture::infiniband
