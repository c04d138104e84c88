// Passes packets to their connections, and makes connections of matched flows.
#include "capture/infiniband/queue_pairs.h"

#include <utility>

#include "capture/infiniband/cm_tracker.h"
#include "capture/infiniband/pair_table.h"
#include "capture/infiniband/transport_packet.h"
#include "capture/infiniband/unmatched_flows.h"

namespace steertag::capture::infiniband {

struct QueuePairs::State {
  State(ConnectionSinks& to, const ReaderOptions& options)
      : sinks(to), manager(to, options, pairs, unmatched) {}

  void read(const TransportPacket& packet);
  void finish();

  void read_data(const TransportPacket& packet);
  void join(const MatchedFlows& both);
  std::optional<PairTable::Position> asked_for(const FlowKey& to_client, const FlowKey& to_server,
                                               const FrameStamp& stamp);
  PairTable::Position join_unknown(const MatchedFlows& both, const FrameStamp& stamp);
  void tell_lost(const EvictedFlow& lost);
  void keep_limits(const FrameStamp& stamp);

  ConnectionSinks& sinks;
  PairTable pairs;
  UnmatchedFlows unmatched;
  CmTracker manager;
  std::uint64_t evicted_flows = 0;
};

QueuePairs::QueuePairs(ConnectionSinks& sinks, const ReaderOptions& options)
    : state_(std::make_unique<State>(sinks, options)) {}
QueuePairs::~QueuePairs() = default;

bool QueuePairs::read(const Datagram& datagram) {
  const auto packet = transport_packet(datagram);
  if (packet) state_->read(*packet);
  return packet.has_value();
}

bool QueuePairs::read(const InfinibandFrame& frame) {
  const auto packet = transport_packet(frame);
  if (packet) state_->read(*packet);
  return packet.has_value();
}

void QueuePairs::finish() {
  state_->finish();
}

std::uint64_t QueuePairs::forgotten() const {
  return state_->pairs.forgotten() + state_->evicted_flows;
}

void QueuePairs::State::read(const TransportPacket& packet) {
  if (!packet.traits().datagram) {
    read_data(packet);
  } else if (packet.base.queue_pair == rdma::infiniband::kManagementQueuePair) {
    manager.read(packet);
  }
  keep_limits(packet.stamp);
}

void QueuePairs::State::read_data(const TransportPacket& packet) {
  const FlowKey flow = packet.flow();
  if (const auto sender = pairs.sender_of(flow)) {
    if (!sender->pair->connection().over()) return pairs.read(*sender, packet);
    if (sender->pair->take_late()) return;
    pairs.remove(sender->pair);
  }
  if (const auto both = unmatched.read(packet)) join(*both);
}

void QueuePairs::State::join(const MatchedFlows& both) {
  const FrameStamp stamp = both.packets.empty() ? FrameStamp{} : both.packets.front().packet.stamp;
  auto pair = asked_for(both.one, both.two, stamp);
  if (!pair) pair = asked_for(both.two, both.one, stamp);
  if (!pair) pair = join_unknown(both, stamp);
  for (const KeptPacket& kept : both.packets) {
    const bool by_a = kept.packet.flow() == *(*pair)->flow(Side::a);
    pairs.read({*pair, by_a ? Side::a : Side::b}, kept.packet);
  }
}

/// The pair whose request was captured, and whose reply was not.
std::optional<PairTable::Position> QueuePairs::State::asked_for(const FlowKey& to_client,
                                                                const FlowKey& to_server,
                                                                const FrameStamp& stamp) {
  const auto pair = pairs.find([&](FlowPair& each) {
    return each.handshake() && !each.handshake()->answered && !each.connection().over() &&
           each.handshake()->to_client() == to_client;
  });
  if (pair == pairs.end()) return std::nullopt;
  pair->handshake()->answered = true;
  ConnectionClassifier& classifier = pair->connection().classifier();
  classifier.set_end(Side::b, end_text(to_server.destination, to_server.queue_pair));
  pair->report_request();
  classifier.on_loss(stamp, Side::b, LossKind::missing);
  pairs.index(pair, Side::a, to_server);
  pairs.index(pair, Side::b, to_client);
  return pair;
}

PairTable::Position QueuePairs::State::join_unknown(const MatchedFlows& both,
                                                    const FrameStamp& stamp) {
  const FlowKey& one = both.one;
  const FlowKey& two = both.two;
  ConnectionHints hints;
  hints.fabric = fabric_of(one.source);
  hints.ends = {end_text(one.source, two.queue_pair), end_text(two.source, one.queue_pair)};
  if (both.cut_client) {
    hints.known_port = true;  // no later packet identifies the protocol
    hints.client = *both.cut_client == one ? Side::a : Side::b;
  }
  if (manager.early_reply(one) != nullptr) hints.client = Side::a;
  if (manager.early_reply(two) != nullptr) hints.client = Side::b;
  const auto pair = pairs.add(sinks, std::move(hints), one, two);
  pairs.index(pair, Side::a, one);
  pairs.index(pair, Side::b, two);
  const LossKind kind = manager.setup_cut(one) ? LossKind::cut : LossKind::joined;
  for (const Side side : {Side::a, Side::b})
    pair->connection().classifier().on_loss(stamp, side, kind);
  return pair;
}

/// An unmatched flow that speaks RPC-over-RDMA is reported as a connection. Nearly all of it is
/// lost, also between its messages. Each message can only be judged alone.
void QueuePairs::State::tell_lost(const EvictedFlow& lost) {
  if (lost.requests.empty()) return;
  ConnectionHints hints;
  hints.fabric = fabric_of(lost.flow.source);
  hints.ends = {end_text(lost.flow.source), end_text(lost.flow.destination, lost.flow.queue_pair)};
  ConnectionClassifier classifier(sinks, std::move(hints));
  const auto lose = [&](const FrameStamp& stamp, LossKind kind) {
    for (const Side side : {Side::a, Side::b}) classifier.on_loss(stamp, side, kind);
  };
  lose(lost.first, manager.setup_cut(lost.flow) ? LossKind::cut : LossKind::joined);
  Requests requests(Side::a, classifier);
  for (const KeptPacket& kept : lost.requests) {
    const Order order = requests.order(kept.packet.base.psn);
    if (order == Order::behind) continue;
    if (order == Order::ahead) requests.skip_to(kept.packet.base.psn);
    requests.take(kept.packet);
    if (kept.packet.traits().last) lose(kept.packet.stamp, LossKind::missing);
  }
  classifier.on_end({});
}

void QueuePairs::State::keep_limits(const FrameStamp& stamp) {
  while (unmatched.over_limits() ||
         (unmatched.bytes() > kMostBufferedBytes / 2 && !unmatched.empty())) {
    const auto lost = unmatched.evict_oldest();
    if (!lost) break;
    ++evicted_flows;
    tell_lost(*lost);
  }
  pairs.keep_limits(stamp, kMostBufferedBytes / 2);
}

void QueuePairs::State::finish() {
  while (const auto lost = unmatched.evict_oldest()) tell_lost(*lost);
  pairs.finish();
}

}  // namespace steertag::capture::infiniband
