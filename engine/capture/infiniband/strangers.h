// One-way flows of packets of which it is not known which other flow answers them: the capture has
// no beginning of their connection.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// Flows without a partner; of more the one that was used least lately is given up.
inline constexpr std::size_t kMostStrangers = 1024;
/// The same between two hosts in one direction: each is compared with all of the other direction.
inline constexpr std::size_t kMostStrangersOfHosts = 64;
/// Packets and octets kept of a flow, the latest: a connection that is joined later is joined too.
inline constexpr std::size_t kMostStrangerPackets = 64;
inline constexpr std::size_t kMostStrangerBytes = std::size_t{256} << 10;
/// What makes two flows a connection: so many different proofs. One is a sequence number that is
/// answered and that fits one flow alone; it may be equal by chance to one of another flow (24
/// bits, of which some peers count from 0), two are not. One is an XID that comes back, and no more
/// than one, for XIDs come again on other connections, as a client that connects again sends its
/// calls again; with it a number counts that fits other flows too. Each proof that speaks for
/// another flow counts twice against it.
inline constexpr unsigned kEnoughProofs = 2;
/// Flows that one may seem to belong to.
inline constexpr std::size_t kMostPartners = 8;

/// Two flows that belong together, with the packets of both in the order of the capture.
struct Acquaintance {
  FlowKey one;
  FlowKey two;
  std::vector<KeptPacket> packets;
  // It speaks RPC-over-RDMA in messages that were cut, so that none of them can be told; this flow
  // is the client's, as far as can be seen.
  std::optional<FlowKey> cut_caller;
};

/// A flow that is given up, with what was kept of its requests, in order; nothing if that does not
/// show that it speaks RPC-over-RDMA.
struct LostStranger {
  FlowKey flow;
  Place first;
  std::vector<KeptPacket> requests;
};

class Strangers {
 public:
  /// Keeps the packet. The flow's partner, if this packet proves which one it is.
  std::optional<Acquaintance> read(const TransportPacket& packet);
  /// What was kept of a flow that is known now.
  std::vector<KeptPacket> take(const FlowKey& flow);
  /// Gives up the flow that was used least lately; nothing if there is none.
  std::optional<LostStranger> give_up_oldest();
  /// Whether there are more flows than may be.
  bool over_limits() const { return flows_.size() > kMostStrangers; }
  bool empty() const { return flows_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Partner {
    FlowKey flow;
    unsigned numbers = 0;
    std::uint32_t psn = 0;  // the last of them
    bool xid = false;       // one was the same
  };
  struct Flow {
    FlowKey key;
    Place first;
    std::deque<KeptPacket> packets;
    std::size_t bytes = 0;
    bool speaks = false;   // a message of it is RPC-over-RDMA
    bool strange = false;  // its first message is something else
    std::vector<Partner> partners;
  };
  using Position = std::list<Flow>::iterator;

  Position position(const TransportPacket& packet);
  void keep(Flow& flow, const TransportPacket& packet);
  Flow* only_answered(const Flow& flow, const TransportPacket& response);
  Flow* only_with_xid(const Flow& flow, const TransportPacket& message);
  template <class Fits>
  Flow* only(const Flow& flow, Fits fits);
  static void note(Flow& flow, const Flow& partner, const TransportPacket& proof);
  static unsigned proofs(const Flow& one, const Flow& two);
  static unsigned proofs_of_others(const Flow& flow, const FlowKey& partner);
  Flow remove(Position flow);

  std::list<Flow> flows_;  // the one used last comes first
  std::unordered_map<FlowKey, Position> index_;
  // By hosts, with 0 as queue pair.
  std::unordered_map<FlowKey, std::vector<Position>> hosts_;
  std::size_t bytes_ = 0;
};

}  // namespace steertag::capture::infiniband
