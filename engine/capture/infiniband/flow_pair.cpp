// Reports setup and end of a connection as both sides observe them.
#include "capture/infiniband/flow_pair.h"

#include <algorithm>
#include <utility>

#include "rdma/infiniband/reject_reason.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

template <class Event>
void report(ConnectionClassifier& classifier, const FrameStamp& stamp, Side side,
            const KeptPrivateData& data) {
  if (data.whole) {
    classifier.on_event(stamp, side, Event{data.octets});
  } else {
    classifier.on_loss(stamp, side, LossKind::cut);
  }
}

}  // namespace

FlowPair::FlowPair(ConnectionSinks& sinks, ConnectionHints hints, CmHandshake handshake)
    : connection_(sinks, std::move(hints)), handshake_(std::move(handshake)) {
  connection_.start_at(Side::b, handshake_->server_psn);
}

FlowPair::FlowPair(ConnectionSinks& sinks, ConnectionHints hints, const FlowKey& one,
                   const FlowKey& two)
    : connection_(sinks, std::move(hints)), flows_{one, two} {}

bool FlowPair::has_end(const Address& address, std::uint32_t queue_pair) const {
  if (handshake_ && handshake_->client_queue_pair == queue_pair &&
      handshake_->client_path == address) {
    return true;
  }
  return std::ranges::any_of(flows_, [&](const std::optional<FlowKey>& flow) {
    return flow && flow->queue_pair == queue_pair && flow->destination == address;
  });
}

void FlowPair::report_request() {
  if (!handshake_ || handshake_->reported) return;
  handshake_->reported = true;
  report<trace::Connect>(connection_.classifier(), handshake_->stamp, Side::a,
                         handshake_->private_data);
}

void FlowPair::accept(const FrameStamp& stamp, const KeptPrivateData& data) {
  report_request();
  report<trace::Accept>(connection_.classifier(), stamp, Side::b, data);
}

void FlowPair::reject(const FrameStamp& stamp, Side sender, const ib::CmMessage& message) {
  if (connection_.over() || connection_.used()) return;
  report_request();
  // Other reasons are the connection manager's own: no listener, or a lost message.
  const bool by_consumer = message.reason == ib::kRejectedByConsumer;
  if (sender == Side::b && !handshake_->answered && by_consumer) {
    report<trace::Reject>(connection_.classifier(), stamp, Side::b, KeptPrivateData(message));
  }
  disconnect(stamp, sender);
}

std::optional<std::uint32_t> FlowPair::queue_pair_of(Side side) const {
  if (side == Side::a && handshake_) return handshake_->client_queue_pair;
  const auto& to_side = flow(other(side));
  return to_side ? std::optional(to_side->queue_pair) : std::nullopt;
}

void FlowPair::request_disconnect(const FrameStamp& stamp, Side sender, std::uint32_t queue_pair) {
  sent_disconnect_request_[static_cast<std::size_t>(sender)] = true;
  if (queue_pair_of(other(sender)).value_or(queue_pair) == queue_pair) disconnect(stamp, sender);
}

void FlowPair::reply_disconnect(const FrameStamp& stamp, Side sender) {
  const bool whole_setup = handshake_ && handshake_->server_id != 0;
  const Side asker = other(sender);
  if (!whole_setup || sent_disconnect_request_[static_cast<std::size_t>(asker)]) {
    disconnect(stamp, asker);
  }
}

void FlowPair::disconnect(const FrameStamp& stamp, Side sender) {
  if (connection_.over()) return;
  report_request();
  connection_.flush();
  if (connection_.over()) return;
  connection_.classifier().on_event(stamp, sender, trace::Disconnect{true});
  connection_.end(stamp);
}

void FlowPair::end(const FrameStamp& stamp) {
  if (connection_.over()) return;
  report_request();
  connection_.end(stamp);
}

void FlowPair::forget(const FrameStamp& stamp) {
  if (connection_.over()) return;
  report_request();
  connection_.flush();
  for (const Side side : {Side::a, Side::b}) {
    connection_.classifier().on_loss(stamp, side, LossKind::overflow);
  }
  connection_.end(stamp);
}

}  // namespace steertag::capture::infiniband
