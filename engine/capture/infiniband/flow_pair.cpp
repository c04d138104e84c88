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
  if (connection_.over()) return;
  report_request();
  // Other reasons are the connection manager's own: no listener, or a lost message.
  const bool by_consumer = message.reason == ib::kRejectedByConsumer;
  if (sender == Side::b && !handshake_->answered && by_consumer) {
    report<trace::Reject>(connection_.classifier(), stamp, Side::b, KeptPrivateData(message));
  }
  disconnect(stamp, sender);
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
