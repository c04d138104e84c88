// Dispatches packets to the readers of the fabrics.
#include "capture/reader.h"

#include <variant>

#include "capture/infiniband/queue_pairs.h"
#include "capture/iwarp/tcp_connections.h"
#include "capture/link/link_layers.h"

namespace steertag::capture {

struct Reader::State {
  State(ConnectionSinks& sinks, const ReaderOptions& options)
      : tcp(sinks, options), pairs(sinks, options) {}

  LinkLayers layers;
  iwarp::TcpConnections tcp;
  infiniband::QueuePairs pairs;
  ReaderCounts counts;
};

Reader::Reader(ConnectionSinks& sinks, const ReaderOptions& options)
    : state_(std::make_unique<State>(sinks, options)) {}
Reader::~Reader() = default;

void Reader::read(const Packet& packet) {
  ++state_->counts.packets;
  const LinkFrame frame = state_->layers.read(packet);
  bool taken = false;
  if (const auto* datagram = std::get_if<Datagram>(&frame)) {
    taken = state_->tcp.read(*datagram) || state_->pairs.read(*datagram);
  } else if (const auto* infiniband = std::get_if<InfinibandFrame>(&frame)) {
    taken = state_->pairs.read(*infiniband);
  }
  if (!taken) ++state_->counts.other;
  if (packet.octets.size() >= packet.wire_bytes) return;
  if (state_->counts.cut++ == 0) state_->counts.first_cut = packet.stamp.frame;
}

void Reader::finish() {
  state_->tcp.finish();
  state_->pairs.finish();
}

const ReaderCounts& Reader::counts() const {
  state_->counts.forgotten = state_->tcp.forgotten() + state_->pairs.forgotten();
  return state_->counts;
}

}  // namespace steertag::capture
