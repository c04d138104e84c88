// Sorts packets to the readers of the fabrics.
#include "capture/reader.h"

#include <variant>

#include "capture/iwarp/tcp_connections.h"
#include "capture/link/link_layers.h"

namespace steertag::capture {

struct Reader::State {
  State(ConnectionSinks& sinks, const ReaderOptions& options) : tcp(sinks, options) {}

  LinkLayers layers;
  iwarp::TcpConnections tcp;
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
    taken = state_->tcp.read(*datagram);
  }
  if (!taken) ++state_->counts.other;
  if (taken && packet.octets.size() < packet.wire_bytes) ++state_->counts.cut;
}

void Reader::finish() {
  state_->tcp.finish();
}

const ReaderCounts& Reader::counts() const {
  state_->counts.forgotten = state_->tcp.forgotten();
  return state_->counts;
}

}  // namespace steertag::capture
