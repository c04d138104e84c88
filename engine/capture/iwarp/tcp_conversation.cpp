// For each packet: deliver what is in order, and wait for the rest.
#include "capture/iwarp/tcp_conversation.h"

#include <algorithm>
#include <limits>

namespace steertag::capture::iwarp {
namespace {

constexpr std::array kSides{Side::a, Side::b};

}  // namespace

void TcpConversation::take(Side from, const TcpSegment& segment, const FrameStamp& stamp) {
  ++packets_;
  set_firsts(from, segment);
  TcpStream& stream = own(from);
  TcpStream& peer = own(other(from));
  Piece piece{stream.position(segment.sequence) + (segment.syn ? 1 : 0),
              segment.octets,
              segment.missing,
              true,
              0,
              stamp};
  if (!stream.near(piece.begin)) return;
  if (segment.ack) {
    const std::uint64_t position = peer.position(segment.acknowledgment);
    if (peer.near(position)) {
      peer.acknowledge(position);
      piece.needs = position;
    }
  }
  const StreamEnd mark{piece.end(), piece.needs, stamp};
  // A reset of an older connection is behind what its sender has acknowledged.
  if (segment.rst && piece.begin >= stream.acknowledged()) {
    stream.keep_rst({piece.begin, piece.needs, stamp});
  } else if (!segment.rst) {
    if (segment.fin && mark.position >= stream.next()) stream.keep_fin(mark);
    if (piece.end() > stream.next()) take_octets(from, piece);
  }
  if (sink_.open()) deliver_ready(stamp);
}

// The first packets locate the beginning of each direction. A SYN marks the real start. So does the
// acknowledgment of a SYN by an end that has not sent anything.
void TcpConversation::set_firsts(Side from, const TcpSegment& segment) {
  TcpStream& stream = own(from);
  TcpStream& peer = own(other(from));
  if (segment.syn) {
    stream.set_first(segment.sequence + 1, true);
  } else {
    stream.set_first(segment.sequence, false);
  }
  if (!segment.ack || peer.placed()) return;
  const bool nothing_sent =
      segment.syn || (stream.at_start() && stream.position(segment.sequence) == stream.first());
  peer.set_first(segment.acknowledgment, nothing_sent);
}

void TcpConversation::take_octets(Side from, Piece piece) {
  TcpStream& stream = own(from);
  // The common case: the packet is next, and needs no copy.
  if (piece.begin <= stream.next() && piece.needs <= own(other(from)).next() &&
      stream.keeps_none_before(piece.end()) && stream.head() == TcpStream::Head::none) {
    piece.drop_before(stream.next());
    stream.advance(piece.end());
    sink_.on_octets(from, piece);
    return;
  }
  stream.keep(piece);
}

void TcpConversation::deliver_ready(const FrameStamp& stamp) {
  if (std::ranges::all_of(streams_, [](const TcpStream& stream) {
        return stream.keeps_nothing() && stream.acknowledged() <= stream.next();
      })) {
    hole_since_ = {};
    return;
  }
  do {
    while (sink_.open() && (deliver_next() || break_deadlock())) {
    }
  } while (sink_.open() && enforce_limits(stamp));
  for (const Side side : kSides) {
    std::uint64_t& since = hole_since_[static_cast<std::size_t>(side)];
    if (!own(side).misses_acknowledged()) {
      since = 0;
    } else if (since == 0) {
      since = packets_;
    }
  }
}

bool TcpConversation::can_deliver(Side from) {
  TcpStream& stream = own(from);
  return stream.head() != TcpStream::Head::none && stream.head_needs() <= own(other(from)).next();
}

// Returns whether anything was delivered. If neither direction waits for the other, the capture's
// order decides.
bool TcpConversation::deliver_next() {
  const bool a_may = can_deliver(Side::a);
  const bool b_may = can_deliver(Side::b);
  if (!a_may && !b_may) return false;
  const bool a_first = own(Side::a).head_stamp().frame < own(Side::b).head_stamp().frame;
  deliver(a_may && (!b_may || a_first) ? Side::a : Side::b);
  return true;
}

void TcpConversation::deliver(Side from) {
  TcpStream& stream = own(from);
  const TcpStream::Head head = stream.head();
  hole_since_[static_cast<std::size_t>(from)] = 0;
  if (head == TcpStream::Head::octets) {
    const TcpStream::Kept kept = stream.take_octets();
    stream.advance(kept.piece.end());
    sink_.on_octets(from, kept.piece);
  } else if (head == TcpStream::Head::fin) {
    const StreamEnd fin = stream.take_fin();
    stream.advance(fin.position + 1);
    sink_.on_fin(from, fin.stamp);
  } else {
    sink_.on_reset(from, stream.take_rst().stamp);
  }
}

// Each direction's next octets acknowledge those of the other. The later packet is a retransmission
// whose first copy is missing. Octets that the earlier packet acknowledges were sent before it.
bool TcpConversation::break_deadlock() {
  TcpStream& a = own(Side::a);
  TcpStream& b = own(Side::b);
  if (a.head() == TcpStream::Head::none || b.head() == TcpStream::Head::none) return false;
  const bool a_later = a.head_stamp().frame > b.head_stamp().frame;
  TcpStream& later = a_later ? a : b;
  later.release_head((a_later ? b : a).head_needs());
  return true;
}

/// The direction whose next octets are missing. Of two, the one with the first hole: what follows
/// it does not need the other's. With `or_kept`, also holes that were not acknowledged.
std::optional<Side> TcpConversation::stopped(bool or_kept) {
  const auto stops = [&](Side side) {
    TcpStream& stream = own(side);
    return stream.misses_acknowledged() ||
           (or_kept && !stream.keeps_nothing() && stream.head() == TcpStream::Head::none);
  };
  const bool a_stops = stops(Side::a);
  const bool b_stops = stops(Side::b);
  if (!a_stops && !b_stops) return std::nullopt;
  if (a_stops != b_stops) return a_stops ? Side::a : Side::b;
  const auto needs = own(Side::b).first_needs();
  return needs && *needs <= own(Side::a).next() ? Side::b : Side::a;
}

// Nothing can be delivered. Returns whether a hole was declared lost, so that more can be.
bool TcpConversation::enforce_limits(const FrameStamp& stamp) {
  if (const auto side = stopped(false)) {
    const std::uint64_t since = hole_since_[static_cast<std::size_t>(*side)];
    if (since != 0 && packets_ - since >= kMostPacketsUntilMissing) {
      report_loss(*side, stamp, LossKind::missing);
      return true;
    }
  }
  for (const Side side : kSides) {
    if (!own(side).keeps_too_much()) continue;
    // It waits for its own hole, or its head waits for one of the peer.
    const Side stopped = own(side).head() == TcpStream::Head::none ? side : other(side);
    report_loss(stopped, stamp,
                own(stopped).misses_acknowledged() ? LossKind::missing : LossKind::overflow);
    return true;
  }
  return false;
}

void TcpConversation::report_loss(Side from, const FrameStamp& stamp, LossKind kind) {
  // The peer may have answered a part of the hole before the rest. The rest has been missing as
  // long.
  const auto answer = own(other(from)).first_needs();
  const bool in_hole = answer && *answer > own(from).next();
  const auto there =
      own(from).skip_hole(in_hole ? *answer : std::numeric_limits<std::uint64_t>::max());
  sink_.on_hole(from, there.value_or(stamp), kind);
}

void TcpConversation::finish(const FrameStamp& stamp) {
  deliver_ready(stamp);
  // Each turn declares one hole lost before a piece that is kept or was acknowledged.
  while (sink_.open()) {
    const auto side = stopped(true);
    if (!side) return;
    report_loss(*side, stamp, LossKind::missing);
    deliver_ready(stamp);
  }
}

bool TcpConversation::may_begin_with(Side from, std::uint32_t sequence) const {
  const TcpStream& stream = streams_[static_cast<std::size_t>(from)];
  return !stream.placed() || stream.position(sequence + 1) == stream.first();
}

void TcpConversation::clear() {
  for (TcpStream& stream : streams_) stream.clear();
}

}  // namespace steertag::capture::iwarp
