// Hands packets to the connections that they belong to, and makes connections of flows that nothing
// introduced.
#include "capture/infiniband/queue_pairs.h"

#include <utility>

#include "capture/infiniband/manager.h"
#include "capture/infiniband/pair_table.h"
#include "capture/infiniband/strangers.h"
#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

struct QueuePairs::State {
  State(ConnectionSinks& to, const ReaderOptions& options)
      : sinks(to), manager(to, options, pairs, strangers) {}

  void read(const TransportPacket& packet);
  void finish();

  void read_data(const TransportPacket& packet);
  void join(const Acquaintance& both);
  std::optional<PairTable::Position> asked_for(const FlowKey& to_client, const FlowKey& to_server,
                                               const Place& place);
  PairTable::Position join_unknown(const Acquaintance& both, const Place& place);
  void tell_lost(const LostStranger& lost);
  void keep_limits(const Place& place);

  ConnectionSinks& sinks;
  PairTable pairs;
  Strangers strangers;
  Manager manager;
  std::uint64_t lost_strangers = 0;
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
  return state_->pairs.forgotten() + state_->lost_strangers;
}

void QueuePairs::State::read(const TransportPacket& packet) {
  if (!packet.traits().datagram) {
    read_data(packet);
  } else if (packet.base.queue_pair == rdma::infiniband::kManagementQueuePair) {
    manager.read(packet);
  }
  keep_limits(packet.place);
}

void QueuePairs::State::read_data(const TransportPacket& packet) {
  const FlowKey flow = packet.flow();
  if (const auto sender = pairs.sender_of(flow)) {
    if (!sender->pair->connection().over()) return pairs.read(*sender, packet);
    if (sender->pair->take_late()) return;
    pairs.remove(sender->pair);
  }
  if (const auto both = strangers.read(packet)) join(*both);
}

void QueuePairs::State::join(const Acquaintance& both) {
  const Place place = both.packets.empty() ? Place{} : both.packets.front().packet.place;
  auto pair = asked_for(both.one, both.two, place);
  if (!pair) pair = asked_for(both.two, both.one, place);
  if (!pair) pair = join_unknown(both, place);
  for (const KeptPacket& kept : both.packets) {
    const bool by_a = kept.packet.flow() == *(*pair)->flow(Side::a);
    pairs.read({*pair, by_a ? Side::a : Side::b}, kept.packet);
  }
}

/// The pair whose request was seen and whose reply is not in the capture.
std::optional<PairTable::Position> QueuePairs::State::asked_for(const FlowKey& to_client,
                                                                const FlowKey& to_server,
                                                                const Place& place) {
  const auto pair = pairs.find([&](KnownPair& each) {
    return each.exchange() && !each.exchange()->answered && !each.connection().over() &&
           each.exchange()->to_client() == to_client;
  });
  if (pair == pairs.end()) return std::nullopt;
  pair->exchange()->answered = true;
  ConnectionFeed& feed = pair->connection().feed();
  feed.set_end(Side::b, end_text(to_server.destination, to_server.queue_pair));
  pair->tell_request();
  feed.on_loss(place, Side::b, LossKind::missing);
  pairs.index(pair, Side::a, to_server);
  pairs.index(pair, Side::b, to_client);
  return pair;
}

PairTable::Position QueuePairs::State::join_unknown(const Acquaintance& both, const Place& place) {
  const FlowKey& one = both.one;
  const FlowKey& two = both.two;
  FeedHints hints;
  hints.fabric = fabric_of(one.source);
  hints.ends = {end_text(one.source, two.queue_pair), end_text(two.source, one.queue_pair)};
  if (both.cut_caller) {
    hints.known_port = true;  // nothing more will show what is spoken
    hints.client = *both.cut_caller == one ? Side::a : Side::b;
  }
  if (manager.early_reply(one) != nullptr) hints.client = Side::a;
  if (manager.early_reply(two) != nullptr) hints.client = Side::b;
  const auto pair = pairs.add(sinks, std::move(hints), one, two);
  pairs.index(pair, Side::a, one);
  pairs.index(pair, Side::b, two);
  const LossKind kind = manager.setup_cut(one) ? LossKind::cut : LossKind::joined;
  for (const Side side : {Side::a, Side::b}) pair->connection().feed().on_loss(place, side, kind);
  return pair;
}

/// A flow that stayed without a partner but speaks RPC-over-RDMA is told as a connection of which
/// nearly all is lost, between its messages too: each can be judged by itself only.
void QueuePairs::State::tell_lost(const LostStranger& lost) {
  if (lost.requests.empty()) return;
  FeedHints hints;
  hints.fabric = fabric_of(lost.flow.source);
  hints.ends = {end_text(lost.flow.source), end_text(lost.flow.destination, lost.flow.queue_pair)};
  ConnectionFeed feed(sinks, std::move(hints));
  const auto lose = [&](const Place& place, LossKind kind) {
    for (const Side side : {Side::a, Side::b}) feed.on_loss(place, side, kind);
  };
  lose(lost.first, manager.setup_cut(lost.flow) ? LossKind::cut : LossKind::joined);
  Requests requests(Side::a, feed);
  for (const KeptPacket& kept : lost.requests) {
    const Order order = requests.order(kept.packet.base.psn);
    if (order == Order::behind) continue;
    if (order == Order::ahead) requests.skip_to(kept.packet.base.psn);
    requests.take(kept.packet);
    if (kept.packet.traits().last) lose(kept.packet.place, LossKind::missing);
  }
  feed.on_end({});
}

void QueuePairs::State::keep_limits(const Place& place) {
  while (strangers.over_limits() ||
         (strangers.bytes() > kMostBufferedBytes / 2 && !strangers.empty())) {
    const auto lost = strangers.give_up_oldest();
    if (!lost) break;
    ++lost_strangers;
    tell_lost(*lost);
  }
  pairs.keep_limits(place, kMostBufferedBytes / 2);
}

void QueuePairs::State::finish() {
  while (const auto lost = strangers.give_up_oldest()) tell_lost(*lost);
  pairs.finish();
}

}  // namespace steertag::capture::infiniband
