// A list in order of use, with an index by flow.
#include "capture/infiniband/pair_table.h"

#include <iterator>

namespace steertag::capture::infiniband {

void PairTable::index(Position pair, Side sender, const FlowKey& flow) {
  pair->set_flow(sender, flow);
  senders_.insert_or_assign(flow, Sender{pair, sender});
}

std::optional<PairTable::Sender> PairTable::sender_of(const FlowKey& flow) const {
  const auto found = senders_.find(flow);
  if (found == senders_.end()) return std::nullopt;
  return found->second;
}

void PairTable::read(const Sender& sender, const TransportPacket& packet) {
  pairs_.splice(pairs_.begin(), pairs_, sender.pair);
  sender.pair->connection().read(sender.side, packet);
  recount(sender.pair);
}

void PairTable::recount(Position pair) {
  buffered_ -= pair->counted();
  pair->set_counted(pair->connection().buffered());
  buffered_ += pair->counted();
}

void PairTable::remove(Position pair) {
  for (const Side side : {Side::a, Side::b}) {
    const auto& flow = pair->flow(side);
    if (!flow) continue;
    const auto found = senders_.find(*flow);
    if (found != senders_.end() && found->second.pair == pair) senders_.erase(found);
  }
  buffered_ -= pair->counted();
  pairs_.erase(pair);
}

void PairTable::end_users(const Address& address, std::uint32_t queue_pair, const FrameStamp& stamp,
                          const FlowPair* but) {
  for (Position pair = pairs_.begin(); pair != pairs_.end();) {
    const Position here = pair++;
    if (&*here == but || !here->has_end(address, queue_pair)) continue;
    here->end(stamp);
    remove(here);
  }
}

void PairTable::forget(Position pair, const FrameStamp& stamp) {
  if (!pair->connection().over()) ++forgotten_;
  pair->forget(stamp);
  remove(pair);
}

void PairTable::keep_limits(const FrameStamp& stamp, std::size_t most_bytes) {
  while (pairs_.size() > kMostConnections) forget(std::prev(pairs_.end()), stamp);
  for (Position pair = pairs_.end(); buffered_ > most_bytes && pair != pairs_.begin();) {
    const Position here = --pair;
    if (here->counted() == 0) continue;
    ++pair;
    forget(here, stamp);
  }
}

void PairTable::finish() {
  for (FlowPair& pair : pairs_) {
    pair.end({});
  }
  senders_.clear();
  pairs_.clear();
  buffered_ = 0;
}

}  // namespace steertag::capture::infiniband
