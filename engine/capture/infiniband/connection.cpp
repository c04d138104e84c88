// Queues packets while earlier ones may still arrive, and reports a loss once one is proven.
#include "capture/infiniband/connection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;
using ib::psn_after;
using ib::psn_distance;

bool is_mtu(std::size_t octets) {
  return octets >= kSmallestMtu && octets <= kLargestMtu && (octets & (octets - 1)) == 0;
}

ib::AckKind ack_of(const TransportPacket& packet) {
  return packet.traits().aeth ? ib::ack_kind(packet.ack.syndrome) : ib::AckKind::ack;
}

std::uint32_t before(std::uint32_t psn) {
  return psn_after(psn, ib::kPsnMask);
}

}  // namespace

Connection::Connection(ConnectionSinks& sinks, ConnectionHints hints)
    : classifier_(sinks, std::move(hints)),
      requests_{Requests(Side::a, classifier_), Requests(Side::b, classifier_)} {}

void Connection::set_mtu(std::uint32_t octets) {
  if (!is_mtu(octets)) return;
  for (Requests& each : requests_) each.set_mtu(octets);
}

std::size_t Connection::buffered() const {
  const std::size_t waiting = unacknowledged_[0].size() + unacknowledged_[1].size();
  return reorder_queue_.bytes() + requests(Side::a).buffered() + requests(Side::b).buffered() +
         waiting * sizeof(ReportedPacket);
}

void Connection::read(Side sender, const TransportPacket& packet) {
  if (over_) return;
  if (!classifier_.wanted()) {
    other_protocol_ = true;
    return stop(packet.stamp);
  }
  ++arrivals_;
  note_time(packet.stamp);
  note_mtu(packet);
  if (packet.crc_wrong) {
    classifier_.on_wrong_crc(packet.stamp, sender);
    // It left like this, so its receiver drops it. Elsewhere a device may compute the CRC later.
    if (packet.stamp.by_an_end) return;
  }
  if (packet.traits().is_request()) {
    arrive_request(sender, packet);
  } else if (packet.traits().is_response()) {
    arrive_response(sender, packet);
  }
  if (reorder_queue_.empty()) return;
  disturbed_ = arrivals_;
  drain();
}

/// Times that go back show that packets were not recorded in the order in which they passed.
void Connection::note_time(const FrameStamp& stamp) {
  if (stamp.time_ns < latest_ns_) disturbed_ = arrivals_;
  latest_ns_ = std::max(latest_ns_, stamp.time_ns);
}

/// InfiniBand specification, chapter 9: only a message's last packet may be shorter than the MTU.
void Connection::note_mtu(const TransportPacket& packet) {
  const ib::OpcodeTraits& kind = packet.traits();
  const std::size_t length = packet.payload_length;
  if (kind.last || !is_mtu(length) || requests(Side::a).mtu() == length) return;
  set_mtu(static_cast<std::uint32_t>(length));
}

void Connection::arrive_request(Side sender, const TransportPacket& packet) {
  const Order order = requests(sender).order(packet.base.psn);
  if (order == Order::behind) {
    // A duplicate. A duplicate read request asks for its responses from this number on again.
    MissingResponse& lacked = missing_response(sender);
    const bool read = packet.traits().operation == ib::Operation::read_request;
    if (read && psn_distance(packet.base.psn, lacked.psn) >= 0) lacked.requested_again = true;
  } else if (order == Order::due && reorder_queue_.empty()) {
    take(sender, packet, true);
  } else {
    reorder_queue_.insert(sender, packet);
  }
}

void Connection::arrive_response(Side sender, const TransportPacket& packet) {
  if (packet.traits().operation == ib::Operation::acknowledge &&
      packet.fault != PacketFault::none) {
    return;  // it may acknowledge or refuse
  }
  const Side requester = other(sender);
  const std::uint32_t psn = packet.base.psn;
  const ib::AckKind kind = ack_of(packet);
  if (kind == ib::AckKind::rnr_nak || kind == ib::AckKind::sequence_nak) {
    // The receiver accepted everything before this number. The sender retransmits from there on.
    note_accepted(requester, before(psn));
    return reorder_queue_.refuse(requester, psn);
  }
  if (kind == ib::AckKind::other) return;
  const Order order = order_of(sender, packet);
  if (order == Order::behind) return;
  note_accepted(requester, psn);
  if (!ib::is_fatal(kind)) note_received(requester, psn, packet.stamp);
  const bool plain = packet.traits().operation == ib::Operation::acknowledge && !ib::is_fatal(kind);
  if (order == Order::due && plain) return;  // nothing to report
  if (order == Order::due && reorder_queue_.empty()) {
    take(sender, packet, true);
  } else {
    reorder_queue_.insert(sender, packet);
  }
}

void Connection::note_received(Side requester, std::uint32_t psn, const FrameStamp& stamp) {
  std::deque<ReportedPacket>& waiting = unacknowledged_[static_cast<std::size_t>(requester)];
  std::optional<FrameStamp> up_to;
  while (!waiting.empty() && psn_distance(waiting.front().psn, psn) >= 0) {
    up_to = waiting.front().stamp;
    waiting.pop_front();
  }
  if (up_to) classifier_.on_acknowledged(stamp, other(requester), *up_to);
}

void Connection::note_accepted(Side requester, std::uint32_t psn) {
  const Requests& asked = requests(requester);
  if (!asked.known()) return;
  const std::int32_t distance = psn_distance(asked.next(), psn);
  if (distance < 0 || distance > kMostAhead) return;
  Proof& known = proof(requester);
  if (known.any && psn_distance(asked.next(), known.psn) < 0) known.any = false;
  if (!known.any) {
    known = {true, psn, arrivals_};
  } else if (psn_distance(known.psn, psn) > 0) {
    known.psn = psn;
  }
}

/// The next request was accepted long ago, so the capture lacks it.
bool Connection::proven(Side requester) {
  Proof& known = proof(requester);
  if (known.any && psn_distance(requests(requester).next(), known.psn) < 0) known.any = false;
  return known.any && arrivals_ - known.since >= kMostReordering;
}

Order Connection::order_of(Side sender, const TransportPacket& packet) const {
  const std::uint32_t psn = packet.base.psn;
  if (packet.traits().is_request()) return requests(sender).order(psn);
  const Requests& asked = requests(other(sender));
  if (!asked.asked(psn)) {
    return psn_distance(asked.next(), psn) > kMostAhead ? Order::behind : Order::ahead;
  }
  if (packet.traits().operation == ib::Operation::read_response) {
    return asked.reads().order_of_response(psn);
  }
  // A refused read has no response.
  return asked.reads().order_of_acknowledgement(ib::is_fatal(ack_of(packet)) ? before(psn) : psn);
}

bool Connection::wait_is_over(const QueuedPacket& queued) {
  if (queued.packet.traits().is_request()) return proven(queued.sender);
  const Side requester = other(queued.sender);
  const Requests& asked = requests(requester);
  if (!asked.asked(queued.packet.base.psn)) return proven(requester);
  MissingResponse& lacked = missing_response(requester);
  if (lacked.since == 0 || lacked.psn != asked.reads().next()) {
    lacked = {asked.reads().next(), arrivals_, false};
  }
  return !lacked.requested_again && arrivals_ - lacked.since >= kMostResponseReordering;
}

/// Goes on without the packet that the queued one waits for.
void Connection::report_loss(const QueuedPacket& queued, LossKind kind) {
  const FrameStamp& stamp = queued.packet.stamp;
  const std::uint32_t psn = queued.packet.base.psn;
  if (queued.packet.traits().is_request()) {
    if (requests(queued.sender).order(psn) == Order::due) return;  // refused first, accepted later
    classifier_.on_loss(stamp, queued.sender, kind);
    return requests(queued.sender).skip_to(psn);
  }
  const Side requester = other(queued.sender);
  Requests& asked = requests(requester);
  if (!asked.asked(psn)) {
    classifier_.on_loss(stamp, requester, kind);
    std::uint32_t next = psn_after(psn);
    const Proof& known = proof(requester);
    if (known.any && psn_distance(psn, known.psn) > 0) next = psn_after(known.psn);
    const auto held_request = reorder_queue_.first_request(requester);
    if (held_request && psn_distance(*held_request, next) > 0) next = *held_request;
    asked.skip_to(psn_distance(psn, next) > 0 ? next : psn_after(psn));
  }
  if (order_of(queued.sender, queued.packet) == Order::ahead) {
    classifier_.on_loss(stamp, queued.sender, kind);
    const bool response = queued.packet.traits().operation == ib::Operation::read_response;
    const bool itself = response || ib::is_fatal(ack_of(queued.packet));
    asked.reads().skip_to(itself ? psn : psn_after(psn), asked.mtu());
  }
}

void Connection::drain() {
  while (!reorder_queue_.empty() && !over_) {
    const QueuedPacket& first = reorder_queue_.front();
    const Order order = order_of(first.sender, first.packet);
    if (order == Order::ahead || (order == Order::due && first.refused)) {
      const bool overflow = reorder_queue_.over_limits();
      if (!overflow && !wait_is_over(first)) return;
      report_loss(first, overflow ? LossKind::overflow : LossKind::missing);
    }
    const QueuedPacket taken = reorder_queue_.pop_front();
    if (order_of(taken.sender, taken.packet) == Order::due) take(taken.sender, taken.packet, false);
  }
}

void Connection::flush() {
  while (!reorder_queue_.empty() && !over_) {
    const QueuedPacket& first = reorder_queue_.front();
    if (order_of(first.sender, first.packet) == Order::ahead) report_loss(first, LossKind::missing);
    const QueuedPacket taken = reorder_queue_.pop_front();
    if (order_of(taken.sender, taken.packet) == Order::due) take(taken.sender, taken.packet, false);
  }
}

void Connection::take_request(Side sender, const TransportPacket& packet, bool in_order) {
  const bool calm = disturbed_ == 0 || arrivals_ - disturbed_ > kMostReordering;
  // A joined side may have sent any number of packets before its first captured one.
  classifier_.on_message_packet(packet.stamp, sender, in_order && calm && requests(sender).known());
  requests(sender).take(packet);
  std::deque<ReportedPacket>& waiting = unacknowledged_[static_cast<std::size_t>(sender)];
  if (waiting.size() == kMostUnacknowledged) waiting.pop_front();
  waiting.push_back({packet.base.psn, packet.stamp});
}

void Connection::take(Side sender, const TransportPacket& packet, bool in_order) {
  if (packet.traits().is_request()) return take_request(sender, packet, in_order);
  Requests& asked = requests(other(sender));
  if (packet.traits().operation == ib::Operation::read_response) {
    if (packet.fault == PacketFault::damaged) {
      classifier_.on_loss(packet.stamp, sender, LossKind::damaged);
      return asked.reads().skip_to(psn_after(packet.base.psn), asked.mtu());
    }
    if (packet.traits().last) {
      asked.note_last_response(packet.base.psn);
    } else {
      asked.note_unknown_read(packet.base.psn);
    }
    if (const auto event = asked.reads().take(packet)) {
      classifier_.on_event(packet.stamp, sender, *event);
    }
  } else if (ib::is_fatal(ack_of(packet))) {
    // InfiniBand specification, chapter 9: both queue pairs are in the error state from here on.
    classifier_.on_event(packet.stamp, sender, trace::Disconnect{false});
    stop(packet.stamp);
  }
}

void Connection::end(const FrameStamp& stamp) {
  if (over_) return;
  flush();
  if (!over_) stop(stamp);
}

void Connection::stop(const FrameStamp& stamp) {
  classifier_.on_end(stamp);
  over_ = true;
  reorder_queue_.clear();
  for (Requests& each : requests_) each.release();
  unacknowledged_ = {};
}

}  // namespace steertag::capture::infiniband
