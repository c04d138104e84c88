// States of a session, what it sends, and its deadlines.
#include "fabric/roce/session.h"

#include <algorithm>
#include <utility>

#include "fabric/roce/connection_manager.h"
#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::uint16_t kPermissiveLid = 0xffff;
constexpr std::uint8_t kPacketRate = 3;  // 10 Gb/s: without a meaning over UDP
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint32_t kMostCmRetries = 15;
constexpr std::uint32_t kMostDoublings = 16;
constexpr std::uint32_t kFirstMessage = 0;  // REQ or REP, for a bend

const Limits& limits_of(ConnectionManager& manager) {
  return manager.runtime().limits.roce;
}

}  // namespace

Session::Session(ConnectionManager& manager, const Address& peer, const SessionNumbers& numbers)
    : manager_(manager),
      peer_(peer),
      crc_(route_of(manager.port().local(), peer)),
      numbers_(numbers),
      datagrams_(manager.runtime().reactor, manager.port().local()) {
  key_ = manager_.runtime().reactor.add(*this);
}

Session::~Session() {
  manager_.runtime().reactor.remove(key_);
}

Port& Session::port() {
  return manager_.port();
}

void Session::set_deadline(std::chrono::milliseconds wait) {
  Reactor& reactor = manager_.runtime().reactor;
  reactor.set_deadline(key_, after(reactor.now(), wait));
}

Mad Session::answer(CmKind kind) const {
  Mad mad;
  mad.transaction = transaction_;
  mad.message.kind = kind;
  mad.message.local_id = numbers_.id;
  mad.message.remote_id = peer_id_;
  return mad;
}

void Session::tell(const MadOctets& octets) {
  datagrams_.sent(manager_.send(peer_, octets));
}

void Session::tell_last() {
  if (bent_ && bent_->index == kFirstMessage && (tries_ == 1 || bent_->every_time)) {
    manager_.send_bent(peer_, last_, *bent_, datagrams_);
  } else {
    tell(last_);
  }
}

// Sends a message, and repeats it until the state changes.
void Session::say(const Mad& mad) {
  last_ = encode_mad(mad);
  has_last_ = true;
  tries_ = 1;
  tell_last();
  set_deadline(limits_of(manager_).cm_response);
}

// A REQ is repeated at one pace. REP and DREQ are said less and less often: a forged datagram may
// have caused them. A peer that misses a REP asks for it by its REQ.
std::chrono::milliseconds Session::pace() const {
  const Limits& limits = limits_of(manager_);
  if (state_ == State::requesting) {
    return limits.cm_response;
  }
  return std::min(limits.cm_response * (1U << std::min(tries_ - 1, kMostDoublings)),
                  limits.most_cm_response);
}

void Session::say_once(CmKind kind, std::uint64_t transaction) {
  Mad mad = answer(kind);
  mad.transaction = transaction;
  tell(encode_mad(mad));
}

void Session::request(SessionUser& user, std::uint16_t port, const Offer& offer) {
  const Limits& limits = limits_of(manager_);
  user_ = &user;
  initiator_ = true;
  state_ = State::requesting;
  transaction_ = manager_.runtime().random();
  Bytes private_data(wire::kIpHeaderBytes);
  const Address& own = this->port().local();
  const std::uint16_t own_port = offer.port != 0 ? offer.port : manager_.next_port();
  wire::encode(ip_header_of(own, peer_, own_port), private_data.data());
  private_data.insert(private_data.end(), offer.private_data.begin(), offer.private_data.end());

  Mad mad = answer(CmKind::connect_request);
  mad.message.service = wire::tcp_service(port);
  mad.message.local_guid = guid_of(own);
  mad.message.queue_pair = numbers_.queue_pair;
  mad.message.starting_psn = numbers_.first_psn;
  mad.message.path_mtu = offer.path_mtu;
  mad.message.private_data = private_data;
  mad.message.responder_resources = offer.ird;
  mad.message.initiator_depth = offer.ord;
  mad.message.rnr_retry_count = offer.rnr_retries;
  mad.message.retry_count = limits.peer_retries;
  mad.message.local_response_timeout = exponent_of(limits.cm_response);
  mad.message.remote_response_timeout = exponent_of(limits.cm_response);
  mad.message.max_cm_retries = static_cast<std::uint8_t>(std::min(limits.cm_tries, kMostCmRetries));
  wire::CmPath& path = mad.message.primary;
  path.local_lid = path.remote_lid = kPermissiveLid;
  path.local_gid = gid_of(own);
  path.remote_gid = gid_of(peer_);
  path.packet_rate = kPacketRate;
  path.hop_limit = kHopLimit;
  path.local_ack_timeout = exponent_of(limits.peer_ack);
  terms_.path_mtu = offer.path_mtu;
  bent_ = offer.bent;
  say(mad);
}

void Session::take_first(const Inbound& datagram, const Mad& request,
                         net::SourceQuota::Slot startup) {
  datagrams_.keep(datagram);
  state_ = State::requested;
  startup_ = std::move(startup);
  transaction_ = request.transaction;
  peer_id_ = request.message.local_id;
  peer_queue_pair_ = request.message.queue_pair;
  if (request.message.private_data.size() >= wire::kIpHeaderBytes) {
    const auto header = wire::decode_ip_header(request.message.private_data.data());
    peer_port_ = header.source_port;
    names_ends_ = header.version != 0;
  }
  note_terms(request.message, request.message.path_mtu);
  manager_.note_peer(*this);
}

void Session::note_terms(const CmMessage& message, std::uint8_t path_mtu) {
  terms_ = {message.starting_psn, message.responder_resources, message.initiator_depth,
            message.rnr_retry_count, path_mtu};
}

void Session::accept(const Offer& offer) {
  if (state_ != State::requested) {
    return;
  }
  state_ = State::accepting;
  Mad mad = answer(CmKind::connect_reply);
  mad.message.queue_pair = numbers_.queue_pair;
  mad.message.starting_psn = numbers_.first_psn;
  mad.message.local_guid = guid_of(port().local());
  mad.message.private_data = offer.private_data;
  // A reply lowers what the request offers, and raises nothing.
  mad.message.responder_resources = offer.ird;
  mad.message.initiator_depth = offer.ord;
  if (policy_.limits_depths) {
    mad.message.responder_resources = std::min(offer.ird, terms_.ord);
    mad.message.initiator_depth = std::min(offer.ord, terms_.ird);
  }
  mad.message.rnr_retry_count = offer.rnr_retries;
  bent_ = offer.bent;
  say(mad);
}

void Session::reject(std::uint16_t reason, View private_data) {
  if (state_ != State::requested) {
    return;
  }
  Mad mad = answer(CmKind::connect_reject);
  mad.message.reason = reason;
  mad.message.private_data = private_data;
  user_ = nullptr;
  say(mad);  // the last message is said again when the peer repeats its request
  end(State::over);
}

void Session::disconnect() {
  if (state_ != State::established && state_ != State::accepting && state_ != State::failing) {
    return;
  }
  state_ = State::disconnecting;
  startup_.reset();
  Runtime& runtime = manager_.runtime();
  transaction_ = runtime.random();
  Mad mad = answer(CmKind::disconnect_request);
  mad.message.queue_pair = peer_queue_pair_;
  give_up_ = after(runtime.reactor.now(), runtime.limits.closing);
  say(mad);
}

void Session::fail(std::uint32_t psn, const AckHeader& nak) {
  state_ = State::failing;
  nak_psn_ = psn;
  nak_ = nak;
  has_last_ = false;
  set_deadline(manager_.runtime().limits.closing);
}

void Session::leave() {
  user_ = nullptr;
  switch (state_) {
    case State::unused:
      end(State::over);
      break;
    case State::requesting:
      has_last_ = false;
      end(State::over);
      break;
    case State::requested:
      reject(wire::kRejectedByConsumer, {});
      break;
    case State::accepting:
    case State::established:
      disconnect();
      break;
    case State::failing:
    case State::disconnecting:
    case State::over:
      break;
  }
  datagrams_.observe(nullptr, trace::Role::client);
}

void Session::end(State state) {
  state_ = state;
  startup_.reset();
  manager_.forget_peer(*this);
  set_deadline(limits_of(manager_).time_wait);
}

bool Session::room() {
  return manager_.port().room();
}

void Session::send(PacketHeaders packet, std::span<const View> payload) {
  packet.base.queue_pair = peer_queue_pair_;
  packet.base.migrated = true;
  datagrams_.sent(manager_.port().send(peer_, crc_, packet, payload));
}

void Session::send_bent(PacketHeaders packet, std::span<const View> payload,
                        const BentPacket& bent) {
  packet.base.queue_pair = peer_queue_pair_;
  packet.base.migrated = true;
  manager_.port().send_bent(peer_, crc_, packet, payload, bent, datagrams_);
}

void Session::send_octets(View octets) {
  datagrams_.sent(manager_.port().send_octets(peer_, crc_, octets));
}

void Session::established_now() {
  state_ = State::established;
  startup_.reset();
  bent_.reset();
  has_last_ = false;
  manager_.runtime().reactor.set_deadline(key_, kNever);
}

void Session::notify_room() {
  if (user_ != nullptr) {
    user_->on_room();
  }
}

void Session::on_deadline() {
  const Limits& limits = limits_of(manager_);
  const Time now = manager_.runtime().reactor.now();
  switch (state_) {
    case State::unused:
    case State::over:
      manager_.retire(*this);
      return;
    case State::requested:
    case State::established:
      return;
    case State::failing:
      disconnect();
      return;
    case State::requesting:
    case State::accepting:
      if (tries_ >= limits.cm_tries) {
        has_last_ = false;
        end(State::over);
        if (user_ != nullptr) {
          user_->on_unreachable({Errc::timed_out, "no answer to " + std::to_string(tries_) +
                                                      " messages of connection management"});
        }
        return;
      }
      break;
    case State::disconnecting:
      if (now >= give_up_) {
        has_last_ = false;
        end(State::over);
        if (user_ != nullptr) {
          user_->on_ended();
        }
        return;
      }
      break;
  }
  ++tries_;
  if (policy_.repairs_startup || state_ == State::disconnecting) {
    tell_last();
  }
  set_deadline(pace());
}

}  // namespace steertag::fabric::roce
