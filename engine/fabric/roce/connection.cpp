// The connection's life: startup, its end, and deadlines.
#include "fabric/roce/connection.h"

#include <algorithm>
#include <utility>

#include "fabric/roce/port.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 31;

std::string reason_text(std::uint16_t reason) {
  if (reason == wire::kRejectedForService) {
    return "no listener there";
  }
  return std::string(wire::reject_reason(reason)) + " (REJ " + std::to_string(reason) + ")";
}

// What the peer gets: the field is sent whole, with zeros after the consumer's octets.
Bytes field(const Bytes& private_data, std::size_t size) {
  Bytes whole(private_data);
  whole.resize(size);
  return whole;
}

}  // namespace

RoceConnection::RoceConnection(Runtime& runtime, SoftwareDomain& domain, trace::Role role,
                               const ConnectionOptions& options, Handler& handler,
                               trace::EventSink* events, trace::ByteSink* bytes)
    : SoftwareConnection(runtime, domain, role, handler, kMostMessageBytes),
      runtime_(runtime),
      options_(options),
      observation_(runtime.reactor, domain, role),
      bytes_(bytes),
      requester_(*this, *this, runtime.limits, options_.roce),
      responder_(*this, *this, domain, windows_, splitter_, runtime.limits.roce, options_.roce) {
  observation_.observe(events);
  if (auto* const queue = dynamic_cast<software::SharedReceives*>(options.receives)) {
    responder_.receives().share(*queue, [this] {
      last_progress_ = now();
      mark_unsettled();
    });
  }
  key_ = runtime_.reactor.add(*this);
  started_ = runtime_.reactor.now();
}

RoceConnection::~RoceConnection() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "destroyed", {}, false}, true, role_);
  }
}

void RoceConnection::observe(trace::EventSink* events, trace::ByteSink* bytes) {
  observation_.observe(events);
  bytes_ = bytes;
  if (session_ != nullptr) {
    session_->observe(bytes, role_);
  }
}

Offer RoceConnection::offer() const {
  const std::uint16_t most = runtime_.limits.roce.most_reads;
  Offer offer;
  offer.ird = static_cast<std::uint8_t>(std::min(options_.ird, most));
  offer.ord = static_cast<std::uint8_t>(std::min(options_.ord, most));
  offer.rnr_retries = options_.roce.most_rnr_repetitions;
  offer.private_data = options_.private_data;
  offer.bent = options_.bent_startup;
  return offer;
}

void RoceConnection::initiate(std::vector<Address> addresses) {
  addresses_ = std::move(addresses);
  std::ranges::reverse(addresses_);
  try_next_address({Errc::cannot_connect, "no address"});
  if (state_ != State::closed) {
    update_deadline();
  }
}

void RoceConnection::try_next_address(Error last) {
  if (session_ != nullptr) {
    std::exchange(session_, nullptr)->leave();
  }
  while (!addresses_.empty()) {
    const Address address = addresses_.back();
    addresses_.pop_back();
    peer_name_ = address.text();
    auto port = runtime_.ports.towards(address);
    if (!port) {
      last = std::move(port.error());
      continue;
    }
    session_ = (*port)->manager().make_session(roce_address(address));
    if (session_ == nullptr) {
      last = {Errc::no_device, "this address has no further queue pair"};
      continue;
    }
    session_->observe(bytes_, role_);
    session_->set_policy(options_.roce);
    Offer ours = offer();
    ours.path_mtu = path_mtu_towards(address, runtime_.find_route, runtime_.limits.roce.path_mtu);
    ours.port = options_.local_port;
    session_->request(*this, address.port(), ours);
    if (!std::exchange(connect_notified_, true)) {
      observation_.by_us(trace::Connect{field(options_.private_data, kMostPrivateData)});
    }
    return;
  }
  finish({last.code, std::move(last.detail), {}, false}, true, trace::other(role_));
}

void RoceConnection::respond(Session& session, View peer_private_data) {
  state_ = State::accepting;
  session_ = &session;
  session.set_user(*this);
  session.observe(bytes_, role_);
  session.set_policy(options_.roce);
  peer_name_ = session.peer_end().text();
  peer_private_data_.assign(peer_private_data.begin(), peer_private_data.end());
  observation_.by_peer(trace::Connect{peer_private_data_});
  connect_notified_ = true;
  update_deadline();
  mark_unsettled();
}

void RoceConnection::on_accepted(View private_data) {
  peer_private_data_.assign(private_data.begin(), private_data.end());
  observation_.by_peer(trace::Accept{private_data});
  operate(peer_private_data_);
}

void RoceConnection::on_ready() {
  if (state_ == State::accepted) {
    observation_.by_us(trace::Accept{field(options_.private_data, wire::kReplyPrivateBytes)});
    operate(peer_private_data_);
  }
}

void RoceConnection::operate(View peer_private_data) {
  const PeerTerms& peer = session_->peer_terms();
  const std::uint32_t mtu = wire::path_mtu_bytes(peer.path_mtu);
  const Offer ours = offer();
  ord_ = std::min<std::uint16_t>(ours.ord, peer.ird);
  requester_.start({peer.first_psn, mtu, ord_, peer.rnr_retries, session_->port().held(mtu)});
  responder_.start({session_->numbers().first_psn, mtu, ours.ird});
  responder_.bend_response(options_.bent_response);
  state_ = State::operating;
  last_received_ = last_progress_ = now();
  observation_.start(responder_.receives().posted());
  mark_unsettled();
  update_deadline();
  give_established(peer_private_data);
}

void RoceConnection::on_rejected(std::uint16_t reason, View private_data) {
  if (state_ != State::requesting) {
    finish({Errc::cannot_connect, peer_name_ + ": " + reason_text(reason), {}, false}, true,
           trace::other(role_));
    return;
  }
  if (reason != wire::kRejectedByConsumer) {
    try_next_address({Errc::cannot_connect, peer_name_ + ": " + reason_text(reason)});
    return;
  }
  observation_.by_peer(trace::Reject{private_data});
  refused_private_data_.assign(private_data.begin(), private_data.end());
  finish({Errc::rejected, peer_name_, {}, false}, true, trace::other(role_));
}

void RoceConnection::on_peer_ended() {
  const bool ours = state_ == State::draining || state_ == State::ending;
  CloseReason reason = ours ? std::move(*reason_) : CloseReason{Errc::peer_closed, "", {}, false};
  finish(std::move(reason), true, ours ? role_ : trace::other(role_));
}

void RoceConnection::on_ended() {
  if (state_ == State::ending) {
    finish(std::move(*reason_), true, role_);
  }
}

void RoceConnection::on_unreachable(Error error) {
  if (state_ == State::requesting) {
    try_next_address({error.code, peer_name_ + ": " + error.detail});
    return;
  }
  const Errc code = transfers() ? Errc::peer_reset : error.code;
  finish({code, peer_name_ + ": " + error.detail, {}, false}, false, trace::other(role_));
}

void RoceConnection::disconnect() {
  if (state_ == State::operating) {
    state_ = State::draining;
    responder_.end();
    ending_since_ = runtime_.reactor.now();
    reason_ = {Errc::local_close, "", {}, false};
    mark_unsettled();
  } else if (!answers()) {
    abort();
  }
}

void RoceConnection::abort() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "aborted", {}, false}, false, role_);
  }
}

void RoceConnection::begin_end() {
  state_ = State::ending;
  session_->disconnect();
}

void RoceConnection::finish(CloseReason reason, bool clean, trace::Role actor) {
  if (state_ == State::closed) {
    return;
  }
  state_ = State::closed;
  reason_ = std::move(reason);
  runtime_.reactor.remove(std::exchange(key_, 0));
  if (connect_notified_) {
    observation_.event(actor, trace::Disconnect{clean});
  }
  observation_.stop();
  windows_.close_all();
  requester_.stop();
  responder_.stop();
  if (session_ != nullptr) {
    std::exchange(session_, nullptr)->leave();
  }
  mark_unsettled();
}

std::chrono::milliseconds RoceConnection::startup_limit() const {
  return role_ == trace::Role::client ? options_.startup_timeout
                                      : std::max(options_.startup_timeout, runtime_.limits.startup);
}

Expiry RoceConnection::next_expiry() const {
  const fabric::Limits& limits = runtime_.limits;
  Expiry next;
  const bool starting =
      state_ == State::requesting || state_ == State::accepting || state_ == State::accepted;
  next.consider(starting, Wait::startup, after(started_, startup_limit()));
  next.consider(transfers(), Wait::requester, requester_.deadline());
  next.consider(transfers() && responder_.awaits_peer(), Wait::rest,
                after(last_progress_, limits.mid_message));
  next.consider(state_ == State::draining, Wait::departure, after(ending_since_, limits.unsent));
  next.consider(state_ == State::operating && options_.idle_timeout.count() > 0, Wait::any_traffic,
                after(last_received_, options_.idle_timeout));
  return next;
}

void RoceConnection::expire(Wait wait) {
  const fabric::Limits& limits = runtime_.limits;
  switch (wait) {
    case Wait::startup:
      finish(timed_out(peer_name_ + ": no connection within", startup_limit()), false, role_);
      break;
    case Wait::requester:
      requester_.on_deadline(runtime_.reactor.round_time());
      break;
    case Wait::rest:
      finish(timed_out("nothing of a message that has begun for", limits.mid_message), false,
             role_);
      break;
    case Wait::departure:
      finish(std::move(*reason_), false, role_);
      break;
    case Wait::any_traffic:
      finish(timed_out("nothing came for", options_.idle_timeout), true, role_);
      break;
    default:
      break;
  }
}

}  // namespace steertag::fabric::roce
