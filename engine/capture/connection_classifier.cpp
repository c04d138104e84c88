// Buffers copies until the protocol is known, then passes events on without a copy.
#include "capture/connection_classifier.h"

#include <utility>
#include <variant>

#include "capture/protocol_evidence.h"
#include "trace/body_octets.h"
#include "wire/direct_format.h"
#include "wire/private_data.h"

namespace steertag::capture {
namespace {

bool is_operation(const trace::Body& body) {
  return std::holds_alternative<trace::RdmaWrite>(body) ||
         std::holds_alternative<trace::RdmaRead>(body) ||
         std::holds_alternative<trace::RdmaReadResponse>(body) ||
         std::holds_alternative<trace::RdmaReadRefused>(body);
}

bool announces(const trace::Body& body) {
  View data;
  if (const auto* connect = std::get_if<trace::Connect>(&body)) data = connect->private_data;
  if (const auto* accept = std::get_if<trace::Accept>(&body)) data = accept->private_data;
  return wire::find_private_data_identifier(data).has_value();
}

}  // namespace

/// An event, or a loss if there is no body.
struct ConnectionClassifier::Kept {
  FrameStamp stamp;
  Side actor = Side::a;
  std::optional<trace::Body> body;
  LossKind loss = LossKind::missing;
  Bytes octets;  // the body's view points here; moving the record keeps the octets in place
};

ConnectionClassifier::ConnectionClassifier(ConnectionSinks& sinks, ConnectionHints hints)
    : sinks_(sinks),
      hints_(std::move(hints)),
      client_(hints_.client),
      is_rpcrdma_(hints_.known_port) {}
ConnectionClassifier::~ConnectionClassifier() = default;

void ConnectionClassifier::set_client(Side side) {
  if (state_ == State::undecided) client_ = side;
}

void ConnectionClassifier::set_end(Side side, std::string text) {
  hints_.ends[static_cast<std::size_t>(side)] = std::move(text);
}

void ConnectionClassifier::on_event(const FrameStamp& stamp, Side actor, const trace::Body& body) {
  if (state_ == State::undecided) {
    decide(actor, body);
    const bool is_known = is_rpcrdma_ || is_optimistic_;
    if (state_ == State::undecided && is_known && client_) open_sink(stamp);
  }
  if (state_ == State::undecided) keep(stamp, actor, body);
  if (state_ == State::open) report(stamp, actor, body);
}

void ConnectionClassifier::on_loss(const FrameStamp& stamp, Side actor, LossKind kind) {
  if (state_ == State::open) return sink_->on_loss(stamp, role(actor), kind);
  if (state_ == State::refused) return;
  keep_loss(stamp, actor, kind);
}

void ConnectionClassifier::on_acknowledged(const FrameStamp& stamp, Side actor,
                                           const FrameStamp& up_to) {
  if (state_ == State::open) sink_->on_acknowledged(stamp, role(actor), up_to);
}

void ConnectionClassifier::on_message_packet(const FrameStamp& stamp, Side actor, bool in_order) {
  if (state_ == State::open) sink_->on_message_packet(stamp, role(actor), in_order);
}

void ConnectionClassifier::on_wrong_crc(const FrameStamp& stamp, Side actor) {
  wrong_crcs_[static_cast<std::size_t>(actor)].add(stamp);
}

void ConnectionClassifier::on_end(const FrameStamp& stamp) {
  if (state_ == State::undecided && is_rpcrdma_ && !kept_.empty()) {
    if (!client_ && replier_) client_ = other(*replier_);
    // The two ends look the same. An event could be reported for the wrong one.
    if (client_) open_sink(stamp);
  }
  if (state_ == State::open) {
    for (const Side side : {Side::a, Side::b}) {
      const PacketTally& wrong = wrong_crcs_[static_cast<std::size_t>(side)];
      if (wrong.count > 0) sink_->on_wrong_crcs(role(side), wrong);
    }
    sink_->on_end(stamp);
  }
  refuse();
}

/// Learns about the connection from one event.
void ConnectionClassifier::decide(Side actor, const trace::Body& body) {
  // The ticket of direct access is random, and may look like anything.
  const auto* connect = std::get_if<trace::Connect>(&body);
  if (connect && wire::has_direct_format(connect->private_data)) {
    is_optimistic_ = true;
    client_ = actor;
    return;
  }
  if (announces(body)) is_rpcrdma_ = true;
  if (std::holds_alternative<trace::Connect>(body) && !client_) client_ = actor;
  const auto* send = std::get_if<trace::Send>(&body);
  if (send == nullptr) return;
  const ProtocolEvidence speech = protocol_evidence(send->bytes);
  if (speech >= ProtocolEvidence::rpcrdma) is_rpcrdma_ = true;
  if (speech == ProtocolEvidence::from_client && !client_) client_ = actor;
  if (speech == ProtocolEvidence::from_server && !client_) client_ = other(actor);
  if (speech == ProtocolEvidence::reply && !replier_) replier_ = actor;
  if (speech == ProtocolEvidence::other && !is_rpcrdma_) return refuse();
  if (++sends_ < kMostUndecidedSends) return;
  if (!is_rpcrdma_) return refuse();
  // Only replies so far: they are the server's. A client without calls gets no callbacks.
  if (!client_ && replier_) client_ = other(*replier_);
}

/// Consecutive losses count as one.
void ConnectionClassifier::keep_loss(const FrameStamp& stamp, Side actor, LossKind kind) {
  const bool same = !kept_.empty() && !kept_.back().body && kept_.back().loss == kind &&
                    kept_.back().actor == actor;
  if (same) return;
  if (kept_.size() == kMostUndecidedEvents) return refuse();
  kept_.push_back({stamp, actor, std::nullopt, kind, {}});
}

void ConnectionClassifier::keep(const FrameStamp& stamp, Side actor, const trace::Body& body) {
  if (is_operation(body)) return keep_loss(stamp, actor, LossKind::overflow);
  Kept kept{stamp, actor, body, LossKind::missing, {}};
  if (View* view = trace::octets_of(*kept.body)) {
    kept.octets.assign(view->begin(), view->end());
    *view = kept.octets;
    kept_bytes_ += kept.octets.size();
  }
  if (kept_.size() == kMostUndecidedEvents || kept_bytes_ > kMostUndecidedBytes) return refuse();
  kept_.push_back(std::move(kept));
}

void ConnectionClassifier::open_sink(const FrameStamp& stamp) {
  state_ = State::open;
  ConnectionName name{hints_.fabric, {}, is_optimistic_};
  name.ends.client = hints_.ends[static_cast<std::size_t>(*client_)];
  name.ends.server = hints_.ends[static_cast<std::size_t>(other(*client_))];
  sink_ = &sinks_.open(kept_.empty() ? stamp : kept_.front().stamp, name);
  for (const Kept& each : std::exchange(kept_, {})) {
    if (each.body) {
      report(each.stamp, each.actor, *each.body);
    } else {
      sink_->on_loss(each.stamp, role(each.actor), each.loss);
    }
  }
}

void ConnectionClassifier::report(const FrameStamp& stamp, Side actor, const trace::Body& body) {
  sink_->on_event(stamp, {next_index_++, stamp.time_ns, role(actor), body});
}

void ConnectionClassifier::refuse() {
  state_ = State::refused;
  kept_ = {};
}

}  // namespace steertag::capture
