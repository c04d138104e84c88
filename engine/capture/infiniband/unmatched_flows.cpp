// Finds the opposite flow by what its packets answer.
#include "capture/infiniband/unmatched_flows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "capture/infiniband/reads.h"
#include "capture/protocol_evidence.h"
#include "rdma/infiniband/psn.h"
#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

constexpr std::uint32_t kMostProcedure = 4;  // RFC 8166 4.2.4: RDMA_ERROR

FlowKey hosts_of(const FlowKey& flow) {
  return {flow.source, flow.destination, 0};
}

FlowKey opposite_hosts(const FlowKey& flow) {
  return {flow.destination, flow.source, 0};
}

bool starts_message(const TransportPacket& packet) {
  return packet.traits().operation == ib::Operation::send && packet.traits().first;
}

/// The fixed words of a packet that starts an RPC-over-RDMA message.
std::optional<wire::FixedWords> words_of(const TransportPacket& packet) {
  if (!starts_message(packet)) return std::nullopt;
  const auto words = wire::peek(packet.payload);
  if (!words || words->vers != wire::kVersion || words->proc > kMostProcedure) return std::nullopt;
  return words;
}

/// The RPC message type of a message without chunks.
std::optional<std::uint32_t> type_of(View message) {
  constexpr std::size_t kTypeOffset = wire::kSmallestHeaderBytes + 4;
  if (message.size() < kTypeOffset + 4) return std::nullopt;
  for (std::size_t list = wire::kFixedBytes; list < wire::kSmallestHeaderBytes; list += 4) {
    if (wire::load_u32(message.data() + list) != 0) return std::nullopt;
  }
  return wire::load_u32(message.data() + kTypeOffset);
}

/// Whether a response with this PSN answers the packet.
bool is_answered(const TransportPacket& packet, std::uint32_t psn) {
  if (!packet.traits().is_request()) return false;
  const std::int32_t distance = ib::psn_distance(packet.base.psn, psn);
  if (distance <= 0 || packet.traits().operation != ib::Operation::read_request) {
    return distance == 0;
  }
  return std::uint32_t{packet.rdma.length} > static_cast<std::uint32_t>(distance) * kSmallestMtu;
}

/// Whether a response of `one` answers a request of the other.
bool answers_one(const std::deque<KeptPacket>& responses, const std::deque<KeptPacket>& requests) {
  return std::ranges::any_of(responses, [&](const KeptPacket& response) {
    return response.packet.traits().is_response() &&
           std::ranges::any_of(requests, [&](const KeptPacket& request) {
             return is_answered(request.packet, response.packet.base.psn);
           });
  });
}

/// The client's flow, if the beginning of a message identifies it.
std::optional<FlowKey> shown_client(const MatchedFlows& both) {
  for (const KeptPacket& kept : both.packets) {
    if (!words_of(kept.packet)) continue;
    const ProtocolEvidence speech = protocol_evidence(kept.packet.payload);
    const FlowKey flow = kept.packet.flow();
    if (speech == ProtocolEvidence::from_client) return flow;
    if (speech == ProtocolEvidence::from_server) return flow == both.one ? both.two : both.one;
  }
  return std::nullopt;
}

/// The client's flow when messages are truncated. Without other evidence it is the flow with the
/// first XID that the other side repeats, or simply the first flow.
std::optional<FlowKey> cut_client(const MatchedFlows& both) {
  const std::vector<KeptPacket>& packets = both.packets;
  std::optional<FlowKey> first;
  for (auto call = packets.begin(); call != packets.end(); ++call) {
    const auto words = words_of(call->packet);
    if (!words || !call->packet.payload_cut()) continue;
    if (!first) {
      if (const auto shown = shown_client(both)) return shown;
      first = call->packet.flow();
    }
    const bool answered = std::any_of(call, packets.end(), [&](const KeptPacket& reply) {
      const auto answer = words_of(reply.packet);
      return answer && answer->xid == words->xid && reply.packet.source != call->packet.source;
    });
    if (answered) return call->packet.flow();
  }
  return first;
}

}  // namespace

std::optional<MatchedFlows> UnmatchedFlows::read(const TransportPacket& packet) {
  const Position flow = position(packet);
  if (flow->other_protocol) return std::nullopt;
  Flow* partner = nullptr;
  if (packet.traits().is_response()) {
    partner = only_answered(*flow, packet);
  } else if (starts_message(packet)) {
    const bool is_rpcrdma = words_of(packet).has_value();
    flow->is_rpcrdma |= is_rpcrdma;
    if (!flow->is_rpcrdma && !packet.payload_cut()) {
      flow->other_protocol = true;
      bytes_ -= std::exchange(flow->bytes, 0);
      flow->packets.clear();
      return std::nullopt;
    }
    if (is_rpcrdma) partner = only_with_xid(*flow, packet);
  }
  keep(*flow, packet);
  if (partner == nullptr) return std::nullopt;
  note(*flow, *partner, packet);
  const FlowKey one = flow->key;
  const FlowKey two = partner->key;
  const unsigned against = proofs_for_others(*flow, two) + proofs_for_others(*partner, one);
  if (proofs(*flow, *partner) < kEnoughProofs + 2 * against) return std::nullopt;
  MatchedFlows both{one, two, take(one), std::nullopt};
  std::ranges::move(take(two), std::back_inserter(both.packets));
  std::ranges::stable_sort(both.packets, {},
                           [](const KeptPacket& kept) { return kept.packet.stamp.frame; });
  both.cut_client = cut_client(both);
  return both;
}

UnmatchedFlows::Position UnmatchedFlows::position(const TransportPacket& packet) {
  const FlowKey key = packet.flow();
  if (const auto found = index_.find(key); found != index_.end()) {
    flows_.splice(flows_.begin(), flows_, found->second);
    return found->second;
  }
  std::vector<Position>& same = hosts_[hosts_of(key)];
  if (same.size() == kMostUnmatchedFlowsOfHosts) remove(same.front());
  flows_.push_front({key, packet.stamp, {}, 0, false, false, {}});
  index_[key] = flows_.begin();
  hosts_[hosts_of(key)].push_back(flows_.begin());
  return flows_.begin();
}

void UnmatchedFlows::keep(Flow& flow, const TransportPacket& packet) {
  const std::size_t before = flow.bytes;
  flow.bytes += flow.packets.emplace_back(packet).bytes();
  while (flow.packets.size() > kMostUnmatchedPackets || flow.bytes > kMostUnmatchedBytes) {
    flow.bytes -= flow.packets.front().bytes();
    flow.packets.pop_front();
  }
  bytes_ = bytes_ - before + flow.bytes;
}

/// The only matching flow of the other direction, or none.
template <class Fits>
UnmatchedFlows::Flow* UnmatchedFlows::only(const Flow& flow, Fits fits) {
  const auto found = hosts_.find(opposite_hosts(flow.key));
  if (found == hosts_.end()) return nullptr;
  Flow* one = nullptr;
  for (const Position candidate : found->second) {
    if (&*candidate == &flow || candidate->other_protocol) continue;
    if (!std::ranges::any_of(candidate->packets, fits, &KeptPacket::packet)) continue;
    if (one != nullptr) return nullptr;
    one = &*candidate;
  }
  return one;
}

UnmatchedFlows::Flow* UnmatchedFlows::only_answered(const Flow& flow,
                                                    const TransportPacket& response) {
  return only(
      flow, [&](const TransportPacket& packet) { return is_answered(packet, response.base.psn); });
}

UnmatchedFlows::Flow* UnmatchedFlows::only_with_xid(const Flow& flow,
                                                    const TransportPacket& message) {
  const std::uint32_t xid = words_of(message)->xid;
  const auto type = type_of(message.payload);
  return only(flow, [&](const TransportPacket& packet) {
    const auto words = words_of(packet);
    if (!words || words->xid != xid) return false;
    // RFC 8167 5.1: calls of both directions may have the same XID.
    const auto other_type = type_of(packet.payload);
    return !type || !other_type || *type != *other_type;
  });
}

void UnmatchedFlows::note(Flow& flow, const Flow& partner, const TransportPacket& proof) {
  auto known = std::ranges::find(flow.candidates, partner.key, &Candidate::flow);
  if (known == flow.candidates.end()) {
    if (flow.candidates.size() == kMostCandidates) return;
    known = flow.candidates.insert(known, {partner.key});
  }
  const std::uint32_t psn = proof.base.psn;
  if (!proof.traits().is_response()) {
    known->xid = true;
  } else if (known->numbers == 0 || known->psn != psn) {  // a duplicate is no new evidence
    ++known->numbers;
    known->psn = psn;
  }
}

unsigned UnmatchedFlows::proofs(const Flow& one, const Flow& two) {
  unsigned numbers = 0;
  bool xid = false;
  for (const auto& [flow, partner] : {std::pair(&one, two.key), std::pair(&two, one.key)}) {
    const auto known = std::ranges::find(flow->candidates, partner, &Candidate::flow);
    if (known == flow->candidates.end()) continue;
    numbers += known->numbers;
    xid |= known->xid;
  }
  if (!xid) return numbers;
  if (numbers > 0) return numbers + 1;
  const bool answers =
      answers_one(one.packets, two.packets) || answers_one(two.packets, one.packets);
  return answers ? 2 : 1;
}

unsigned UnmatchedFlows::proofs_for_others(const Flow& flow, const FlowKey& partner) {
  unsigned sum = 0;
  for (const Candidate& known : flow.candidates) {
    if (known.flow != partner) sum += known.numbers + (known.xid ? 1 : 0);
  }
  return sum;
}

std::vector<KeptPacket> UnmatchedFlows::take(const FlowKey& flow) {
  const auto found = index_.find(flow);
  if (found == index_.end()) return {};
  Flow taken = remove(found->second);
  return {std::make_move_iterator(taken.packets.begin()),
          std::make_move_iterator(taken.packets.end())};
}

std::optional<EvictedFlow> UnmatchedFlows::evict_oldest() {
  if (flows_.empty()) return std::nullopt;
  Flow flow = remove(std::prev(flows_.end()));
  EvictedFlow lost{flow.key, flow.first, {}};
  const auto is_rpcrdma = [](const KeptPacket& kept) { return words_of(kept.packet).has_value(); };
  if (std::ranges::none_of(flow.packets, is_rpcrdma)) return lost;
  std::ranges::copy_if(std::make_move_iterator(flow.packets.begin()),
                       std::make_move_iterator(flow.packets.end()),
                       std::back_inserter(lost.requests),
                       [](const KeptPacket& kept) { return kept.packet.traits().is_request(); });
  const std::uint32_t from = lost.requests.front().packet.base.psn;
  std::ranges::stable_sort(lost.requests, {}, [&](const KeptPacket& kept) {
    return ib::psn_distance(from, kept.packet.base.psn);
  });
  return lost;
}

UnmatchedFlows::Flow UnmatchedFlows::remove(Position flow) {
  bytes_ -= flow->bytes;
  index_.erase(flow->key);
  const auto hosts = hosts_.find(hosts_of(flow->key));
  std::erase(hosts->second, flow);
  if (hosts->second.empty()) hosts_.erase(hosts);
  Flow removed = std::move(*flow);
  flows_.erase(flow);
  return removed;
}

}  // namespace steertag::capture::infiniband
