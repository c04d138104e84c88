// The connection's life: events of the connection manager, and its end.
#include "fabric/verbs/connection.h"

#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace steertag::fabric::verbs {
namespace {

// librdmacm counts RDMA Reads in an octet.
constexpr std::uint16_t kMostReads = 255;
// Reasons of a CM REJ (InfiniBand specification 12.6.7.2).
constexpr int kRejectedNoListener = 8;
constexpr int kRejectedByConsumer = 28;

std::string text_of(const CmEvent& event) {
  std::string text = rdma_event_str(event.type);
  if (event.status < 0) {
    text += ": " + error_text(-event.status);
  } else if (event.status > 0) {
    text += ", status " + std::to_string(event.status);
  }
  return text;
}

std::string peer_of(rdma_cm_id& id) {
  Address address;
  const sockaddr* const peer = rdma_get_peer_addr(&id);
  address.length = peer->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&address.storage, peer, address.length);
  return address.text();
}

std::uint8_t reads(std::uint16_t wanted, int device) {
  const int most = std::clamp<int>(device, 0, kMostReads);
  return static_cast<std::uint8_t>(std::min<int>(wanted, most));
}

int milliseconds(std::chrono::milliseconds time) {
  return static_cast<int>(std::min<std::int64_t>(time.count(), INT32_MAX));
}

}  // namespace

VerbsConnection::VerbsConnection(Runtime& runtime, VerbsDomain& domain, trace::Role role,
                                 Handler& handler, trace::EventSink* events,
                                 const ConnectionOptions& options)
    : ReactorConnection(runtime, role, handler),
      QueueOwner(*runtime.device),
      runtime_(runtime),
      domain_(domain),
      options_(options),
      queue_pair_(domain, *this, *this),
      observation_(runtime.reactor, domain, role) {
  observation_.observe(events);
  key_ = runtime_.reactor.add(*this);
  started_ = runtime_.reactor.now();
}

VerbsConnection::~VerbsConnection() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "destroyed", {}, false}, true, role_);
  }
}

void VerbsConnection::initiate(std::vector<Address> addresses) {
  addresses_ = std::move(addresses);
  std::ranges::reverse(addresses_);  // taken from the back
  try_next_address({Errc::cannot_connect, "no address"});
  update_deadline();
}

void VerbsConnection::try_next_address(Error last) {
  while (!addresses_.empty()) {
    Address address = addresses_.back();
    addresses_.pop_back();
    peer_name_ = address.text();
    queue_pair_.unmake();
    state_ = State::resolving;
    id_ = runtime_.events->make_id(*this);
    if (id_ && rdma_resolve_addr(id_.get(), nullptr, address.generic(),
                                 milliseconds(options_.startup_timeout)) == 0) {
      return;
    }
    last = errno == ENODEV ? no_device("none reaches " + peer_name_)
                           : Error{Errc::cannot_connect, peer_name_ + ": " + error_text(errno)};
  }
  finish({last.code, std::move(last.detail), {}, false}, true, trace::other(role_));
}

Expected<void, Error> VerbsConnection::respond(CmId id, const CmEvent& request) {
  state_ = State::accepting;
  id_ = std::move(id);
  CmOwner& owner = *this;
  id_->context = &owner;
  peer_name_ = peer_of(*id_);
  peer_private_data_ = request.private_data;
  ord_ = reads(std::min<std::uint16_t>(options_.ord, request.initiator_depth),
               runtime_.device->attributes().max_qp_init_rd_atom);
  if (auto made = make_queue_pair(); !made) {
    return made;
  }
  observation_.by_peer(trace::Connect{peer_private_data_});
  connect_notified_ = true;
  update_deadline();
  mark_unsettled();
  return {};
}

Expected<void, Error> VerbsConnection::make_queue_pair() {
  if (id_->verbs != runtime_.device->context()) {
    return tl::unexpected(
        Error{Errc::no_device,
              peer_name_ + " is reached by another device than " + runtime_.device->name()});
  }
  if (!queue_pair_.create(*id_)) {
    return tl::unexpected(
        Error{Errc::no_device,
              runtime_.device->name() + " gives no further queue pair: " + error_text(errno)});
  }
  return queue_pair_.flush_receives();
}

rdma_conn_param VerbsConnection::parameters() const {
  const ibv_device_attr& device = runtime_.device->attributes();
  rdma_conn_param parameters{};
  parameters.private_data = options_.private_data.data();
  parameters.private_data_len = static_cast<std::uint8_t>(options_.private_data.size());
  parameters.responder_resources = reads(options_.ird, device.max_qp_rd_atom);
  parameters.initiator_depth = role_ == trace::Role::server
                                   ? static_cast<std::uint8_t>(ord_)
                                   : reads(options_.ord, device.max_qp_init_rd_atom);
  parameters.flow_control = 1;
  parameters.retry_count = kTransportRetries;
  parameters.rnr_retry_count = kRnrRetries;
  return parameters;
}

void VerbsConnection::on_cm_event(const CmEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      address_resolved();
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      route_resolved();
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      if (state_ != State::closed) {
        try_next_address({event.status == -ENODEV ? Errc::no_device : Errc::cannot_connect,
                          peer_name_ + ": " + text_of(event)});
      }
      break;
    case RDMA_CM_EVENT_REJECTED:
      rejected(event);
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      established_now(event);
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      peer_disconnected();
      break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      finish({Errc::no_device, "the device was removed", {}, false}, false, role_);
      break;
    default:
      break;
  }
  update_deadline();
}

void VerbsConnection::address_resolved() {
  if (auto made = make_queue_pair(); !made) {
    try_next_address(std::move(made.error()));  // it may be reached by our device
  } else if (rdma_resolve_route(id_.get(), milliseconds(options_.startup_timeout)) != 0) {
    try_next_address({Errc::cannot_connect, peer_name_ + ": " + error_text(errno)});
  }
}

void VerbsConnection::route_resolved() {
  rdma_conn_param wanted = parameters();
  state_ = State::connecting;
  if (rdma_connect(id_.get(), &wanted) != 0) {
    try_next_address({Errc::cannot_connect, peer_name_ + ": " + error_text(errno)});
    return;
  }
  if (!connect_notified_) {
    observation_.by_us(trace::Connect{options_.private_data});
    connect_notified_ = true;
  }
}

void VerbsConnection::accept_now() {
  rdma_conn_param wanted = parameters();
  state_ = State::accepted;
  if (rdma_accept(id_.get(), &wanted) != 0) {
    finish({Errc::cannot_connect, peer_name_ + ": " + error_text(errno), {}, false}, false,
           trace::other(role_));
  }
}

void VerbsConnection::established_now(const CmEvent& event) {
  if (state_ != State::connecting && state_ != State::accepted) {
    return;
  }
  if (role_ == trace::Role::client) {
    observation_.by_peer(trace::Accept{event.private_data});
    peer_private_data_ = event.private_data;
    ord_ = std::min<std::uint16_t>(
        reads(options_.ord, runtime_.device->attributes().max_qp_init_rd_atom),
        runtime_.device->settled_reads(event));
  } else {
    observation_.by_us(trace::Accept{options_.private_data});
  }
  state_ = State::operating;
  last_received_ = runtime_.reactor.now();
  last_progress_ = last_received_;
  observation_.start();
  more_completions_ = true;  // completions before this event wait in the queue
  mark_unsettled();
  give_established(peer_private_data_);
}

void VerbsConnection::rejected(const CmEvent& event) {
  if (state_ == State::accepted) {  // InfiniBand: the peer does not take the acceptance
    finish({Errc::cannot_connect, peer_name_ + ": " + text_of(event), {}, false}, true,
           trace::other(role_));
    return;
  }
  if (state_ != State::connecting) {
    return;
  }
  const bool by_consumer = runtime_.device->iwarp() || event.status == kRejectedByConsumer;
  if (!by_consumer) {
    const std::string why =
        event.status == kRejectedNoListener ? "no listener there" : text_of(event);
    try_next_address({Errc::cannot_connect, peer_name_ + ": " + why});
    return;
  }
  observation_.by_peer(trace::Reject{event.private_data});
  refused_private_data_ = event.private_data;
  finish({Errc::rejected, "", {}, false}, true, trace::other(role_));
}

void VerbsConnection::peer_disconnected() {
  if (state_ == State::ending) {
    finish(std::move(*reason_), true, role_);
    return;
  }
  // Messages received before the end are still delivered.
  while (transfers() && queue_pair_.poll()) {
  }
  if (transfers() && queue_pair_.failed()) {
    note_flush();  // no posted work could have been flushed
  }
  if (state_ == State::closed) {
    return;
  }
  rdma_disconnect(id_.get());  // answers the peer's request
  const bool ours = state_ == State::draining;
  CloseReason reason = ours ? std::move(*reason_) : CloseReason{Errc::peer_closed, "", {}, false};
  finish(std::move(reason), true, ours ? role_ : trace::other(role_));
}

void VerbsConnection::disconnect() {
  if (state_ == State::operating) {
    state_ = State::draining;
    ending_since_ = runtime_.reactor.now();
    reason_ = {Errc::local_close, "", {}, false};
    mark_unsettled();
  } else if (!transfers() && state_ != State::ending) {
    abort();
  }
}

void VerbsConnection::abort() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "aborted", {}, false}, false, role_);
  }
}

void VerbsConnection::begin_end() {
  state_ = State::ending;
  ending_since_ = runtime_.reactor.now();
  if (rdma_disconnect(id_.get()) != 0) {
    finish(std::move(*reason_), true, role_);
  }
}

void VerbsConnection::finish(CloseReason reason, bool clean, trace::Role actor) {
  if (state_ == State::closed) {
    return;
  }
  const bool connected = transfers() || state_ == State::accepted;
  state_ = State::closed;
  reason_ = std::move(reason);
  runtime_.reactor.remove(std::exchange(key_, 0));
  if (connect_notified_) {
    observation_.event(actor, trace::Disconnect{clean});
  }
  observation_.stop();
  if (connected) {
    rdma_disconnect(id_.get());
  }
  queue_pair_.destroy();
  id_.reset();
  mark_unsettled();
}

Expiry VerbsConnection::next_expiry() const {
  const Limits& limits = runtime_.limits;
  Expiry next;
  const bool resolving = state_ == State::resolving || state_ == State::connecting;
  const bool answering = state_ == State::accepting || state_ == State::accepted;
  const Outgoing* const oldest = transfers() ? queue_pair_.oldest_in_flight() : nullptr;
  const bool reading = oldest != nullptr && oldest->kind == Outgoing::Kind::rdma_read;
  next.consider(resolving, Wait::startup, started_, options_.startup_timeout);
  next.consider(answering, Wait::startup, started_, limits.startup);
  next.consider(oldest != nullptr && !reading, Wait::room, last_progress_, limits.unsent);
  next.consider(reading, Wait::read, last_progress_, limits.unanswered_read);
  next.consider(state_ == State::draining, Wait::departure, ending_since_, limits.unsent);
  next.consider(transfers() && flushed_, Wait::reason, flushed_since_, limits.closing);
  next.consider(state_ == State::ending, Wait::peers_end, ending_since_, limits.closing);
  next.consider(state_ == State::operating && options_.idle_timeout.count() > 0, Wait::any_traffic,
                last_received_, options_.idle_timeout);
  return next;
}

void VerbsConnection::expire(Wait wait) {
  const Limits& limits = runtime_.limits;
  switch (wait) {
    case Wait::startup:
      finish(timed_out("no connection within",
                       role_ == trace::Role::client ? options_.startup_timeout : limits.startup),
             false, role_);
      break;
    case Wait::room:
      finish(timed_out("the peer took no operation for", limits.unsent), false, role_);
      break;
    case Wait::read:
      finish(timed_out("an RDMA Read went unanswered for", limits.unanswered_read), false, role_);
      break;
    case Wait::departure:
      finish(std::move(*reason_), false, role_);
      break;
    case Wait::reason:
      finish({Errc::peer_reset, "the queue pair failed without a reason", {}, false}, false,
             trace::other(role_));
      break;
    case Wait::peers_end:
      finish(std::move(*reason_), true, role_);
      break;
    case Wait::any_traffic:
      finish(timed_out("nothing came for", options_.idle_timeout), true, role_);
      break;
    default:
      break;
  }
}

}  // namespace steertag::fabric::verbs
