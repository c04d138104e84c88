// RDMA Reads of frames, and what they give.
#include "client/direct/optimistic_connection.h"

#include <utility>

#include "endpoint/block_frame.h"
#include "nfs/direct/private_data.h"

namespace steertag::peer {

OptimisticConnection::OptimisticConnection(fabric::Provider& provider,
                                           const OptimisticPolicy& policy)
    : provider_(provider),
      policy_(policy),
      domain_(provider.make_domain()),
      pool_(*domain_,
            kMostOptimisticReads * RegionPool::size_for(kLargestOptimisticBlock + kFrameOctets)) {}

OptimisticConnection::~OptimisticConnection() {
  if (!connection_) return;
  connection_->set_handler(nullptr);
  connection_->abort();
}

void OptimisticConnection::open(const net::Url& url, const direct::Ticket& ticket, bool crc,
                                bool recoverable) {
  recoverable_ = recoverable && provider_.capabilities().recoverable_read_faults;
  fabric::ConnectionOptions options;
  direct::encode(ticket, options.private_data, recoverable_);
  options.ird = 0;  // our memory is never read
  options.ord = kMostOptimisticReads;
  options.crc = crc;
  options.roce = policy_.roce;
  auto started = provider_.connect(url, *domain_, options, static_cast<fabric::Handler&>(*this));
  if (started) {
    connection_ = std::move(*started);
  } else {
    go_down(started.error().message());
  }
}

MutableView OptimisticConnection::frame_of(const Read& read) {
  return read.sink->bytes().first(read.reference.length + kFrameOctets);
}

bool OptimisticConnection::read(const direct::Reference& reference, Done done) {
  if (!is_up() || reads_.size() >= kMostOptimisticReads) return false;
  if (reference.length > kLargestOptimisticBlock) return false;
  const std::size_t octets = reference.length + kFrameOctets;
  PooledRegion sink = pool_.acquire(octets, {});
  if (!sink) return false;
  const fabric::WorkId id = next_read_++;
  const auto posted = connection_->rdma_read(*sink, 0, static_cast<std::uint32_t>(octets),
                                             reference.stag, reference.base, id);
  if (!posted) return false;
  reads_.emplace(id, Read{reference, std::move(sink), std::move(done)});
  return true;
}

void OptimisticConnection::on_established(fabric::Connection& connection, View private_data) {
  if (direct::is_optimistic(private_data)) {
    if (recoverable_ && direct::is_recoverable(private_data))
      (void)connection.recover_read_faults();  // the provider has it
    state_ = State::up;
    return;
  }
  go_down("the server answered for another protocol");
  connection_->abort();
}

void OptimisticConnection::on_refused(fabric::Connection& /*connection*/,
                                      const fabric::Error& error, View /*private_data*/) {
  go_down(error.message());
}

void OptimisticConnection::on_completed(fabric::Connection& /*connection*/, fabric::WorkId id,
                                        fabric::Operation /*operation*/) {
  auto found = reads_.extract(id);
  if (found.empty()) return;
  Read& read = found.mapped();
  read.done(open_frame(frame_of(read), read.reference.generation, policy_.checks));
}

void OptimisticConnection::on_read_refused(fabric::Connection& /*connection*/, fabric::WorkId id,
                                           const trace::Terminate& /*cause*/) {
  auto found = reads_.extract(id);
  if (found.empty()) return;
  found.mapped().done(std::nullopt);
}

void OptimisticConnection::on_closed(fabric::Connection& /*connection*/,
                                     const fabric::CloseReason& reason) {
  go_down(reason.detail);
}

void OptimisticConnection::go_down(std::string reason) {
  if (is_down()) return;
  state_ = State::down;
  reason_ = std::move(reason);
  auto lost = std::exchange(reads_, {});
  if (!policy_.answers_lost) return;
  // Whose octets came, or a part of them, is of no use: no Read is finished.
  for (auto& [id, read] : lost)
    read.done(policy_.drops_lost ? std::nullopt : std::optional<View>(frame_data(frame_of(read))));
}

}  // namespace steertag::peer
