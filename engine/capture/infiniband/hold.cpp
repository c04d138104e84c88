// Sorts packets that came too early, or too late.
#include "capture/infiniband/hold.h"

#include <algorithm>
#include <utility>

#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {
namespace {

using rdma::infiniband::psn_distance;

/// Whether `held` cannot have been sent before a packet that comes now.
bool follows(const HeldPacket& held, Side sender, const TransportPacket& packet) {
  const bool response = held.packet.traits().is_response();
  if (packet.traits().is_response() != response) {
    // A response to this request.
    return response && held.sender != sender &&
           psn_distance(packet.base.psn, held.packet.base.psn) >= 0;
  }
  return held.sender == sender && psn_distance(packet.base.psn, held.packet.base.psn) > 0;
}

}  // namespace

HeldPacket Hold::take_front() {
  HeldPacket first = std::move(held_.front());
  held_.pop_front();
  bytes_ -= first.bytes();
  return first;
}

void Hold::insert(Side sender, const TransportPacket& packet) {
  if (packet.traits().is_request()) {
    const auto same = std::ranges::find_if(held_, [&](const HeldPacket& held) {
      return held.sender == sender && held.packet.traits().is_request() &&
             held.packet.base.psn == packet.base.psn;
    });
    if (same != held_.end()) {
      if (!same->refused) return;
      bytes_ -= same->bytes();
      held_.erase(same);
    }
  }
  const auto place = std::ranges::find_if(
      held_, [&](const HeldPacket& held) { return follows(held, sender, packet); });
  bytes_ += held_.emplace(place, sender, packet)->bytes();
}

void Hold::refuse(Side sender, std::uint32_t psn) {
  for (HeldPacket& held : held_) {
    if (held.sender == sender && held.packet.traits().is_request() &&
        psn_distance(psn, held.packet.base.psn) >= 0) {
      held.refused = true;
    }
  }
}

std::optional<std::uint32_t> Hold::first_request(Side sender) const {
  for (const HeldPacket& held : held_) {
    if (held.sender == sender && held.packet.traits().is_request()) return held.packet.base.psn;
  }
  return std::nullopt;
}

void Hold::clear() {
  held_.clear();
  bytes_ = 0;
}

}  // namespace steertag::capture::infiniband
