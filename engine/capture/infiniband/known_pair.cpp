// Tells setup and end of a connection as both sides see them.
#include "capture/infiniband/known_pair.h"

#include <algorithm>
#include <utility>

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

template <class Event>
void tell(ConnectionFeed& feed, const Place& place, Side side, const KeptPrivateData& data) {
  if (data.whole) {
    feed.on_event(place, side, Event{data.octets});
  } else {
    feed.on_loss(place, side, LossKind::cut);
  }
}

}  // namespace

KnownPair::KnownPair(ConnectionSinks& sinks, FeedHints hints, Exchange exchange)
    : connection_(sinks, std::move(hints)), exchange_(std::move(exchange)) {
  connection_.start_at(Side::b, exchange_->server_psn);
}

KnownPair::KnownPair(ConnectionSinks& sinks, FeedHints hints, const FlowKey& one,
                     const FlowKey& two)
    : connection_(sinks, std::move(hints)), flows_{one, two} {}

bool KnownPair::has_end(const Address& address, std::uint32_t queue_pair) const {
  if (exchange_ && exchange_->client_queue_pair == queue_pair &&
      exchange_->client_path == address) {
    return true;
  }
  return std::ranges::any_of(flows_, [&](const std::optional<FlowKey>& flow) {
    return flow && flow->queue_pair == queue_pair && flow->destination == address;
  });
}

void KnownPair::tell_request() {
  if (!exchange_ || exchange_->told) return;
  exchange_->told = true;
  tell<trace::Connect>(connection_.feed(), exchange_->place, Side::a, exchange_->private_data);
}

void KnownPair::accept(const Place& place, const KeptPrivateData& data) {
  tell_request();
  tell<trace::Accept>(connection_.feed(), place, Side::b, data);
}

void KnownPair::reject(const Place& place, Side sender, const ib::CmMessage& message) {
  if (connection_.over()) return;
  tell_request();
  // Other reasons are the connection manager's own: nobody listens there, a message was lost.
  const bool by_consumer = message.reason == ib::kRejectedByConsumer;
  if (sender == Side::b && !exchange_->answered && by_consumer) {
    tell<trace::Reject>(connection_.feed(), place, Side::b, KeptPrivateData(message));
  }
  disconnect(place, sender);
}

void KnownPair::disconnect(const Place& place, Side sender) {
  if (connection_.over()) return;
  tell_request();
  connection_.flush();
  if (connection_.over()) return;
  connection_.feed().on_event(place, sender, trace::Disconnect{true});
  connection_.end(place);
}

void KnownPair::end(const Place& place) {
  if (connection_.over()) return;
  tell_request();
  connection_.end(place);
}

void KnownPair::forget(const Place& place) {
  if (connection_.over()) return;
  tell_request();
  connection_.flush();
  for (const Side side : {Side::a, Side::b}) {
    connection_.feed().on_loss(place, side, LossKind::overflow);
  }
  connection_.end(place);
}

}  // namespace steertag::capture::infiniband
