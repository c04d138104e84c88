// Reassembles messages from packets in order.
#include "capture/infiniband/requests.h"

#include <algorithm>

#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;
using ib::psn_after;
using ib::psn_distance;

/// InfiniBand specification, chapter 9: a read takes one PSN for each of its responses.
std::uint32_t responses(std::uint32_t length, std::uint32_t mtu) {
  return std::max<std::uint32_t>(1, length / mtu + (length % mtu != 0 ? 1 : 0));
}

}  // namespace

void Requests::start_at(std::uint32_t psn) {
  next_ = psn;
  known_ = true;
  message_ = Message::none;
}

Order Requests::order(std::uint32_t psn) const {
  if (!known_) return Order::due;
  const std::int32_t distance = psn_distance(next_, psn);
  if (distance == 0) return Order::due;
  if (distance < 0 && distance >= -kMostBehind) return Order::behind;
  // It may be next after a read whose responses cannot be counted yet. The first response decides.
  return Order::ahead;
}

bool Requests::asked(std::uint32_t psn) const {
  if (!known_ || psn_distance(next_, psn) < 0) return true;
  if (!open_ended()) return false;
  const std::uint32_t end = psn_after(read_start_, responses(read_length_, kSmallestMtu));
  return psn_distance(end, psn) < 0;
}

void Requests::take(const TransportPacket& packet) {
  if (open_ended()) reads_.set_last_end(packet.base.psn);
  read_last_ = false;
  known_ = true;
  next_ = psn_after(packet.base.psn);
  switch (packet.traits().operation) {
    case ib::Operation::send:
      return take_send(packet);
    case ib::Operation::write:
      return take_write(packet);
    case ib::Operation::read_request:
      return take_read(packet);
    default:  // NFS/RDMA does not use atomic operations
      return;
  }
}

void Requests::skip_to(std::uint32_t psn) {
  if (open_ended()) reads_.set_last_end(psn);
  read_last_ = false;
  known_ = true;
  next_ = psn;
  message_ = Message::skipped;
}

void Requests::note_last_response(std::uint32_t psn) {
  if (!open_ended() || psn_distance(read_start_, psn) < 0 || !asked(psn)) return;
  read_last_ = false;
  next_ = psn_after(psn);
  reads_.set_last_end(next_);
}

void Requests::note_unknown_read(std::uint32_t psn) {
  if (known_ && !open_ended() && reads_.empty() && next_ == psn_after(psn)) {
    next_ = psn_after(psn, 2);
  }
}

void Requests::set_mtu(std::uint32_t octets) {
  mtu_ = octets;
  if (read_last_) count_responses();
}

/// The last request is a read. Computes how many PSNs it takes, or can take.
void Requests::count_responses() {
  next_ = psn_after(read_start_, responses(read_length_, mtu_ != 0 ? mtu_ : kLargestMtu));
  reads_.set_last_end(
      psn_after(read_start_, responses(read_length_, mtu_ != 0 ? mtu_ : kSmallestMtu)));
}

void Requests::lose(const TransportPacket& packet, LossKind kind) {
  classifier_.on_loss(packet.stamp, side_, kind);
  message_ = packet.traits().last ? Message::none : Message::skipped;
}

/// Whether the packet belongs to a message that is reported. A message may start before the last
/// one ended, or continue without a start. Either the sender is at fault, or the capture is
/// damaged.
bool Requests::opens(const TransportPacket& packet, Message message) {
  const ib::OpcodeTraits& kind = packet.traits();
  if (kind.first) {
    if (message_ == Message::send || message_ == Message::write) {
      classifier_.on_loss(packet.stamp, side_, LossKind::damaged);
    }
    message_ = message;
    send_.clear();
  } else if (message_ == Message::skipped) {
    if (kind.last) message_ = Message::none;
    return false;
  } else if (message_ != message) {
    lose(packet, LossKind::damaged);
    return false;
  }
  if (packet.fault == PacketFault::none) return true;
  lose(packet, packet.fault == PacketFault::cut ? LossKind::cut : LossKind::damaged);
  return false;
}

void Requests::take_send(const TransportPacket& packet) {
  if (!opens(packet, Message::send)) return;
  if (packet.payload_cut()) return lose(packet, LossKind::cut);
  const ib::OpcodeTraits& kind = packet.traits();
  View whole = packet.payload;
  if (!kind.first || !kind.last) {
    if (send_.size() + packet.payload.size() > kMostSendBytes) {
      return lose(packet, LossKind::overflow);
    }
    send_.insert(send_.end(), packet.payload.begin(), packet.payload.end());
    whole = send_;
  }
  if (!kind.last) return;
  message_ = Message::none;
  std::optional<std::uint32_t> invalidated;
  if (kind.invalidate) invalidated = packet.invalidated;
  classifier_.on_event(packet.stamp, side_, trace::Send{whole, invalidated});
  send_.clear();
  if (send_.capacity() > kKeptSendBytes) send_ = {};
}

void Requests::take_write(const TransportPacket& packet) {
  if (!opens(packet, Message::write)) return;
  if (packet.traits().first) {
    write_key_ = packet.rdma.key;
    write_offset_ = packet.rdma.address;
  }
  const std::uint64_t offset = write_offset_;
  write_offset_ += packet.payload_length;
  if (packet.traits().last) message_ = Message::none;
  // A partial payload is worth no more than none.
  const View payload = packet.payload_cut() ? View{} : packet.payload;
  classifier_.on_event(packet.stamp, side_,
                       trace::RdmaWrite{write_key_, offset, packet.payload_length, payload});
}

void Requests::take_read(const TransportPacket& packet) {
  if (!opens(packet, Message::none)) {
    known_ = packet.fault == PacketFault::none;  // otherwise the number of its PSNs is unknown
    return;
  }
  read_last_ = true;
  read_start_ = packet.base.psn;
  read_length_ = packet.rdma.length;
  reads_.add(read_start_, packet.rdma);
  count_responses();
  classifier_.on_event(packet.stamp, side_,
                       trace::RdmaRead{packet.rdma.key, packet.rdma.address, read_length_});
}

}  // namespace steertag::capture::infiniband
