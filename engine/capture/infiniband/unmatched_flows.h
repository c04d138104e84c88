// One-way flows whose opposite flow is unknown, because the capture lacks their connection setup.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// At most this many unmatched flows; beyond that the least recently used is evicted.
inline constexpr std::size_t kMostUnmatchedFlows = 1024;
/// At most this many between two hosts in one direction. Each is compared with all of the other
/// direction.
inline constexpr std::size_t kMostUnmatchedFlowsOfHosts = 64;
/// The latest packets and octets kept of each flow. A connection that the capture joins later is
/// joined too.
inline constexpr std::size_t kMostUnmatchedPackets = 64;
inline constexpr std::size_t kMostUnmatchedBytes = std::size_t{256} << 10;
/// Two flows match with this many different proofs. A proof is an acknowledged PSN that fits one
/// flow only. One PSN may match another flow by chance (24 bits, and some peers count from 0); two
/// do not.
///
/// A repeated XID is one proof, and never more: a reconnecting client retransmits its calls, so
/// XIDs repeat across connections. With an XID, a PSN that also fits other flows counts as well. A
/// proof for another flow counts twice against a match.
inline constexpr unsigned kEnoughProofs = 2;
/// At most this many possible matches of one flow.
inline constexpr std::size_t kMostCandidates = 8;

/// Two flows that match, with the packets of both in capture order.
struct MatchedFlows {
  FlowKey one;
  FlowKey two;
  std::vector<KeptPacket> packets;
  // The messages of this RPC-over-RDMA connection are truncated, and none can be reported. This
  // flow is the client's, as far as the capture shows.
  std::optional<FlowKey> cut_client;
};

/// An evicted flow with its requests in order. The requests are empty unless they show
/// RPC-over-RDMA.
struct EvictedFlow {
  FlowKey flow;
  FrameStamp first;
  std::vector<KeptPacket> requests;
};

class UnmatchedFlows {
 public:
  /// Stores the packet. Returns the match if this packet proves one.
  std::optional<MatchedFlows> read(const TransportPacket& packet);
  /// Removes a flow that is matched now, and returns its packets.
  std::vector<KeptPacket> take(const FlowKey& flow);
  /// Evicts the least recently used flow. Nothing if there is none.
  std::optional<EvictedFlow> evict_oldest();
  /// Whether there are too many flows.
  bool over_limits() const { return flows_.size() > kMostUnmatchedFlows; }
  bool empty() const { return flows_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Candidate {
    FlowKey flow;
    unsigned numbers = 0;
    std::uint32_t psn = 0;  // the latest of them
    bool xid = false;       // a message repeats an XID
  };
  struct Flow {
    FlowKey key;
    FrameStamp first;
    std::deque<KeptPacket> packets;
    std::size_t bytes = 0;
    bool is_rpcrdma = false;      // a message of it is RPC-over-RDMA
    bool other_protocol = false;  // its first message is of another protocol
    std::vector<Candidate> candidates;
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
  static unsigned proofs_for_others(const Flow& flow, const FlowKey& partner);
  Flow remove(Position flow);

  std::list<Flow> flows_;  // most recently used first
  std::unordered_map<FlowKey, Position> index_;
  // By hosts; the queue pair is 0.
  std::unordered_map<FlowKey, std::vector<Position>> hosts_;
  std::size_t bytes_ = 0;
};

}  // namespace steertag::capture::infiniband
