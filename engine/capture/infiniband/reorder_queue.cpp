// Inserts packets that arrived too early or too late at their place.
#include "capture/infiniband/reorder_queue.h"

#include <algorithm>
#include <utility>

#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {
namespace {

using rdma::infiniband::psn_distance;

/// Whether `held` cannot have been sent before the packet that arrives now.
bool follows(const QueuedPacket& queued, Side sender, const TransportPacket& packet) {
  const bool response = queued.packet.traits().is_response();
  if (packet.traits().is_response() != response) {
    // A response to this request.
    return response && queued.sender != sender &&
           psn_distance(packet.base.psn, queued.packet.base.psn) >= 0;
  }
  return queued.sender == sender && psn_distance(packet.base.psn, queued.packet.base.psn) > 0;
}

}  // namespace

QueuedPacket ReorderQueue::pop_front() {
  QueuedPacket first = std::move(packets_.front());
  packets_.pop_front();
  bytes_ -= first.bytes();
  return first;
}

void ReorderQueue::insert(Side sender, const TransportPacket& packet) {
  if (packet.traits().is_request()) {
    const auto same = std::ranges::find_if(packets_, [&](const QueuedPacket& queued) {
      return queued.sender == sender && queued.packet.traits().is_request() &&
             queued.packet.base.psn == packet.base.psn;
    });
    if (same != packets_.end()) {
      if (!same->refused) return;
      bytes_ -= same->bytes();
      packets_.erase(same);
    }
  }
  const auto stamp = std::ranges::find_if(
      packets_, [&](const QueuedPacket& queued) { return follows(queued, sender, packet); });
  bytes_ += packets_.emplace(stamp, sender, packet)->bytes();
}

void ReorderQueue::refuse(Side sender, std::uint32_t psn) {
  for (QueuedPacket& queued : packets_) {
    if (queued.sender == sender && queued.packet.traits().is_request() &&
        psn_distance(psn, queued.packet.base.psn) >= 0) {
      queued.refused = true;
    }
  }
}

std::optional<std::uint32_t> ReorderQueue::first_request(Side sender) const {
  for (const QueuedPacket& queued : packets_) {
    if (queued.sender == sender && queued.packet.traits().is_request())
      return queued.packet.base.psn;
  }
  return std::nullopt;
}

void ReorderQueue::clear() {
  packets_.clear();
  bytes_ = 0;
}

}  // namespace steertag::capture::infiniband
