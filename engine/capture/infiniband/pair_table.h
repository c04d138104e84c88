// The connections that are known, found by their flows; the ones used least lately give way.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "capture/infiniband/known_pair.h"

namespace steertag::capture::infiniband {

/// Connections that are known at a time, those that speak something else and those that ended
/// included.
inline constexpr std::size_t kMostConnections = 1024;

class PairTable {
 public:
  using Position = std::list<KnownPair>::iterator;
  struct Sender {
    Position pair;
    Side side = Side::a;
  };

  template <class... Arguments>
  Position add(Arguments&&... arguments) {
    pairs_.emplace_front(std::forward<Arguments>(arguments)...);
    return pairs_.begin();
  }
  /// Packets of this flow belong to that side of the pair from now on.
  void index(Position pair, Side sender, const FlowKey& flow);
  std::optional<Sender> sender_of(const FlowKey& flow) const;
  /// The first pair for which `is` holds; end() if there is none. One used later comes first.
  template <class Is>
  Position find(Is is) {
    Position pair = pairs_.begin();
    while (pair != pairs_.end() && !is(*pair)) ++pair;
    return pair;
  }
  Position end() { return pairs_.end(); }

  /// To be called when a pair may hold back more, or less, than before.
  void recount(Position pair);
  /// Hands a packet over.
  void read(const Sender& sender, const TransportPacket& packet);
  void remove(Position pair);
  /// A new connection uses this queue pair: others that did, but for one, are over.
  void end_users(const Address& address, std::uint32_t queue_pair, const Place& place,
                 const KnownPair* but);
  /// Forgets connections until there are no more than may be, and they hold no more than that.
  void keep_limits(const Place& place, std::size_t most_bytes);
  /// The capture is over.
  void finish();

  /// Octets that the connections hold back.
  std::size_t buffered() const { return buffered_; }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  void forget(Position pair, const Place& place);

  std::list<KnownPair> pairs_;  // the one used last comes first
  std::unordered_map<FlowKey, Sender> senders_;
  std::size_t buffered_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace steertag::capture::infiniband
