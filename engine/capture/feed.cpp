// Keeps copies until the connection is known, then hands on without a copy.
#include "capture/feed.h"

#include <utility>
#include <variant>

#include "capture/speech.h"
#include "trace/body_octets.h"
#include "wire/private_data.h"

namespace steertag::capture {
namespace {

bool is_operation(const trace::Body& body) {
  return std::holds_alternative<trace::RdmaWrite>(body) ||
         std::holds_alternative<trace::RdmaRead>(body) ||
         std::holds_alternative<trace::RdmaReadResponse>(body);
}

bool announces(const trace::Body& body) {
  View data;
  if (const auto* connect = std::get_if<trace::Connect>(&body)) data = connect->private_data;
  if (const auto* accept = std::get_if<trace::Accept>(&body)) data = accept->private_data;
  return wire::find_private_data_identifier(data).has_value();
}

}  // namespace

/// An event, or a loss if there is no body.
struct ConnectionFeed::Kept {
  Place place;
  Side actor = Side::a;
  std::optional<trace::Body> body;
  LossKind loss = LossKind::missing;
  Bytes octets;  // what the body's view points to; its memory does not move with the record
};

ConnectionFeed::ConnectionFeed(ConnectionSinks& sinks, FeedHints hints)
    : sinks_(sinks), hints_(std::move(hints)), client_(hints_.client), speaks_(hints_.known_port) {}
ConnectionFeed::~ConnectionFeed() = default;

void ConnectionFeed::set_client(Side side) {
  if (state_ == State::undecided) client_ = side;
}

void ConnectionFeed::set_end(Side side, std::string text) {
  hints_.ends[static_cast<std::size_t>(side)] = std::move(text);
}

void ConnectionFeed::on_event(const Place& place, Side actor, const trace::Body& body) {
  if (state_ == State::undecided) {
    decide(actor, body);
    if (speaks_ && client_) open_sink(place);
  }
  if (state_ == State::undecided) keep(place, actor, body);
  if (state_ == State::open) tell(place, actor, body);
}

void ConnectionFeed::on_loss(const Place& place, Side actor, LossKind kind) {
  if (state_ == State::open) return sink_->on_loss(place, role(actor), kind);
  if (state_ == State::refused) return;
  keep_loss(place, actor, kind);
}

void ConnectionFeed::on_received(const Place& place, Side actor, const Place& upto) {
  if (state_ == State::open) sink_->on_received(place, role(actor), upto);
}

void ConnectionFeed::on_turn(const Place& place, Side actor, bool in_order) {
  if (state_ == State::open) sink_->on_turn(place, role(actor), in_order);
}

void ConnectionFeed::on_end(const Place& place) {
  if (state_ == State::undecided && speaks_ && !kept_.empty()) {
    if (!client_ && replier_) client_ = other(*replier_);
    // Where nothing tells the ends apart, anything told would be told of the wrong one.
    if (client_) open_sink(place);
  }
  if (state_ == State::open) sink_->on_end(place);
  refuse();
}

/// Looks at one event for what it tells about the connection.
void ConnectionFeed::decide(Side actor, const trace::Body& body) {
  if (announces(body)) speaks_ = true;
  if (std::holds_alternative<trace::Connect>(body) && !client_) client_ = actor;
  const auto* send = std::get_if<trace::Send>(&body);
  if (send == nullptr) return;
  const Speech speech = speech_of(send->bytes);
  if (speech >= Speech::spoken) speaks_ = true;
  if (speech == Speech::from_client && !client_) client_ = actor;
  if (speech == Speech::from_server && !client_) client_ = other(actor);
  if (speech == Speech::reply && !replier_) replier_ = actor;
  if (speech == Speech::other && !speaks_) return refuse();
  if (++sends_ < kMostUndecidedSends) return;
  if (!speaks_) return refuse();
  // Replies alone: the server's, since a client that never calls is never called back.
  if (!client_ && replier_) client_ = other(*replier_);
}

/// Losses in a row are one.
void ConnectionFeed::keep_loss(const Place& place, Side actor, LossKind kind) {
  const bool same = !kept_.empty() && !kept_.back().body && kept_.back().loss == kind &&
                    kept_.back().actor == actor;
  if (same) return;
  if (kept_.size() == kMostUndecidedEvents) return refuse();
  kept_.push_back({place, actor, std::nullopt, kind, {}});
}

void ConnectionFeed::keep(const Place& place, Side actor, const trace::Body& body) {
  if (is_operation(body)) return keep_loss(place, actor, LossKind::overflow);
  Kept kept{place, actor, body, LossKind::missing, {}};
  if (View* view = trace::octets_of(*kept.body)) {
    kept.octets.assign(view->begin(), view->end());
    *view = kept.octets;
    kept_bytes_ += kept.octets.size();
  }
  if (kept_.size() == kMostUndecidedEvents || kept_bytes_ > kMostUndecidedBytes) return refuse();
  kept_.push_back(std::move(kept));
}

void ConnectionFeed::open_sink(const Place& place) {
  state_ = State::open;
  ConnectionName name{hints_.fabric, {}};
  name.ends.client = hints_.ends[static_cast<std::size_t>(*client_)];
  name.ends.server = hints_.ends[static_cast<std::size_t>(other(*client_))];
  sink_ = &sinks_.open(kept_.empty() ? place : kept_.front().place, name);
  for (const Kept& each : std::exchange(kept_, {})) {
    if (each.body) {
      tell(each.place, each.actor, *each.body);
    } else {
      sink_->on_loss(each.place, role(each.actor), each.loss);
    }
  }
}

void ConnectionFeed::tell(const Place& place, Side actor, const trace::Body& body) {
  sink_->on_event(place, {next_index_++, place.time_ns, role(actor), body});
}

void ConnectionFeed::refuse() {
  state_ = State::refused;
  kept_ = {};
}

}  // namespace steertag::capture
