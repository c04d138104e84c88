// Reports the events of an MPA connection as the live provider does.
#include "capture/iwarp/mpa_connection.h"

#include <utility>

namespace steertag::capture::iwarp {
namespace {

using rdma::iwarp::StartupFrame;
using rdma::iwarp::StartupKind;

constexpr std::array kSides{Side::a, Side::b};

constexpr std::size_t index(Side side) {
  return static_cast<std::size_t>(side);
}

}  // namespace

MpaConnection::MpaConnection(ConnectionSinks& sinks, Budget& budget, ConnectionHints hints)
    : sinks_(sinks),
      hints_(std::move(hints)),
      conversation_(budget, *this),
      streams_{{MpaStream(*this, Side::a), MpaStream(*this, Side::b)}},
      messages_{{DdpMessages(budget), DdpMessages(budget)}} {}

void MpaConnection::take(Side from, const TcpSegment& segment, const FrameStamp& stamp) {
  if (!open()) return;
  if (segment.syn && !classifier_) hints_.client = segment.ack ? other(from) : from;
  last_stamp_ = stamp;
  conversation_.take(from, segment, stamp);
  if (open()) return;
  conversation_.clear();
  for (const Side side : kSides) {
    stream(side).release();
    messages(side).lose();
  }
}

void MpaConnection::finish(const FrameStamp& end_stamp) {
  if (!open()) return;
  // A single FIN is not reported: the other may be missing, so it is unknown who closed first.
  conversation_.finish(last_stamp_);
  end(end_stamp);
}

bool MpaConnection::replaced_by(Side from, const TcpSegment& segment) const {
  if (segment.syn) return !conversation_.may_begin_with(from, segment.sequence);
  return !open() && segment.octets.size() >= rdma::iwarp::kStartupKeyBytes &&
         octets_lacking(StartupKind::request, segment.octets) &&
         !conversation_.may_begin_with(from, segment.sequence - 1);
}

void MpaConnection::on_octets(Side from, const Piece& piece) {
  // What the other side did between the parts of a hole was reported after its loss.
  const auto hole = std::exchange(holes_[index(from)], std::nullopt);
  if (hole && !losses_[index(from)]) lose(from, piece.stamp, *hole);
  const TcpStream& tcp = conversation_.stream(from);
  stream(from).take(piece, tcp.at_start() && piece.begin == tcp.first());
}

void MpaConnection::on_hole(Side from, const FrameStamp& stamp, LossKind kind) {
  stream(from).skip();
  holes_[index(from)] = kind;
  on_lost(from, stamp, kind);
}

void MpaConnection::on_startup(Side from, const FrameStamp& stamp, const Startup& startup) {
  startup_seen_[index(from)] = true;
  messages(from).expect_first();
  // RFC 5044 7.1.1: M asks the peer to send markers. C from either side is enough.
  if (startup.frame.markers) stream(other(from)).use_markers();
  if (startup.frame.crc) {
    for (const Side side : kSides) stream(side).use_crc();
  }
  if (startup.frame.kind == StartupKind::request) {
    take_request(from, stamp, startup);
  } else {
    take_reply(from, stamp, startup);
  }
}

void MpaConnection::take_request(Side from, const FrameStamp& stamp, const Startup& startup) {
  startup_seen_[index(other(from))] = true;  // the responder sends nothing before
  hints_.client = from;
  request_ = startup.frame;
  stream(other(from)).expect_reply();
  recognize(stamp);
  classifier_->set_client(from);
  if (startup.cut) return lose(from, stamp, LossKind::cut);
  report(from, stamp, trace::Connect{startup.frame.private_data});
}

void MpaConnection::take_reply(Side from, const FrameStamp& stamp, const Startup& startup) {
  const StartupFrame& frame = startup.frame;
  hints_.client = other(from);
  recognize(stamp);
  classifier_->set_client(other(from));
  if (startup.cut) {
    lose(from, stamp, LossKind::cut);
  } else if (frame.rejected) {
    report(from, stamp, trace::Reject{frame.private_data});
  } else {
    report(from, stamp, trace::Accept{frame.private_data});
  }
  if (frame.rejected) return disconnect(from, stamp, true);
  // RFC 6581 9.2: both agreed on an empty Send as the initiator's first FPDU.
  const bool offered = request_ && request_->enhanced && request_->enhanced->rtr_send;
  if (offered && frame.enhanced && frame.enhanced->rtr_send) {
    messages(other(from)).skip_ready_to_receive();
  }
}

void MpaConnection::on_no_startup(Side from, const FrameStamp& stamp) {
  if (!classifier_) return refuse();
  lose(from, stamp, LossKind::damaged);
}

void MpaConnection::on_ulpdu(Side from, const FrameStamp& stamp, const Ulpdu& ulpdu) {
  if (!open()) return;
  if (!classifier_) {
    if (!hints_.known_port) return on_lost(from, stamp, LossKind::joined);
    recognize(stamp);
  }
  const Completed completed = messages(from).take(ulpdu);
  if (completed.loss) lose(from, stamp, *completed.loss);
  if (completed.body) {
    report(from, stamp, *completed.body);
    messages(from).release_message();
  }
  if (completed.terminated) disconnect(from, stamp, true);
}

void MpaConnection::on_lost(Side from, const FrameStamp& stamp, LossKind kind) {
  messages(from).lose();
  lose(from, stamp, kind);
}

// The peer's provider does the same: a close inside a message is not clean.
void MpaConnection::on_fin(Side from, const FrameStamp& stamp) {
  const bool whole = stream(from).whole() && messages(from).between_messages();
  if (!whole) return disconnect(from, stamp, false);
  if (!first_fin_) {
    first_fin_ = from;
  } else if (*first_fin_ != from) {
    disconnect(*first_fin_, stamp, true);
  }
}

void MpaConnection::on_reset(Side from, const FrameStamp& stamp) {
  disconnect(first_fin_.value_or(from), stamp, first_fin_.has_value());
}

void MpaConnection::recognize(const FrameStamp& stamp) {
  if (classifier_) return;
  classifier_.emplace(sinks_, hints_);
  state_ = State::recognized;
  for (const Side side : kSides) {
    if (!startup_seen_[index(side)] && !conversation_.stream(side).at_start() &&
        !losses_[index(side)]) {
      losses_[index(side)] = Loss{stamp, LossKind::joined};
    }
  }
}

void MpaConnection::refuse() {
  state_ = State::refused;
  for (const Side side : kSides) stream(side).stop();
}

void MpaConnection::lose(Side from, const FrameStamp& stamp, LossKind kind) {
  if (!open()) return;
  std::optional<Loss>& loss = losses_[index(from)];
  // The first of several losses causes the others.
  loss = Loss{stamp, loss ? loss->kind : kind};
  if (!classifier_ && ++unaligned_ > kMostUnalignedPieces) refuse();
}

void MpaConnection::report(Side from, const FrameStamp& stamp, const trace::Body& body) {
  if (!open()) return;
  report_losses();
  classifier_->on_event(stamp, from, body);
  if (!classifier_->wanted()) refuse();
}

void MpaConnection::report_losses() {
  for (const Side side : kSides) {
    const auto loss = std::exchange(losses_[index(side)], std::nullopt);
    if (loss) classifier_->on_loss(loss->stamp, side, loss->kind);
  }
}

void MpaConnection::disconnect(Side culprit, const FrameStamp& stamp, bool clean) {
  if (!open()) return;
  if (!classifier_) return refuse();
  report(culprit, stamp, trace::Disconnect{clean});
  end(stamp);
}

void MpaConnection::end(const FrameStamp& stamp) {
  if (!open()) return;
  if (classifier_) {
    report_losses();
    classifier_->on_end(stamp);
  }
  state_ = State::over;
  for (const Side side : kSides) stream(side).stop();
}

}  // namespace steertag::capture::iwarp
