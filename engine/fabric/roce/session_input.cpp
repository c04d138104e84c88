// What a session makes of the messages and packets of its peer.
#include <algorithm>
#include <chrono>
#include <utility>

#include "fabric/roce/connection_manager.h"
#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"
#include "fabric/roce/session.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::uint32_t kReadyToUse = 1;  // the initiator's message behind its REQ, for a bend

}  // namespace

void Session::take(const Inbound& datagram, const Mad& mad) {
  datagrams_.received(datagram);
  switch (mad.message.kind) {
    case CmKind::connect_request:
      take_repeated_request();
      break;
    case CmKind::connect_reply:
      take_reply(mad);
      break;
    case CmKind::ready_to_use:
      if (state_ == State::accepting) {
        established_now();
        if (user_ != nullptr) {
          user_->on_ready();
        }
      } else {
        take_misplaced();
      }
      break;
    case CmKind::message_receipt_ack:
      // The peer's user takes its time; the user's own limit ends it.
      if (state_ == State::requesting || state_ == State::accepting) {
        tries_ = 0;
        set_deadline(std::max(manager_.runtime().limits.roce.cm_response,
                              std::chrono::duration_cast<std::chrono::milliseconds>(
                                  time_of(mad.message.service_timeout))));
      } else {
        take_misplaced();
      }
      break;
    case CmKind::connect_reject:
      take_reject(mad);
      break;
    case CmKind::disconnect_request:
      if (state_ == State::requesting || state_ == State::requested ||
          (policy_.checks_disconnect && mad.message.queue_pair != numbers_.queue_pair)) {
        break;
      }
      if (policy_.answers_disconnect) {
        say_once(CmKind::disconnect_reply, mad.transaction);
      }
      if (state_ != State::over) {
        const bool ours = state_ == State::disconnecting;
        has_last_ = false;
        end(State::over);
        if (user_ != nullptr) {
          ours ? user_->on_ended() : user_->on_peer_ended();
        }
      }
      break;
    case CmKind::disconnect_reply:
      if (state_ == State::disconnecting) {
        has_last_ = false;
        end(State::over);
        if (user_ != nullptr) {
          user_->on_ended();
        }
      } else if (!policy_.expects_disconnect_reply) {
        fail_stale();
      }
      break;
  }
}

// The answer is late or lost.
void Session::take_repeated_request() {
  if (state_ == State::requested) {
    Mad mad = answer(CmKind::message_receipt_ack);
    mad.message.service_timeout = exponent_of(manager_.runtime().limits.startup);
    tell(encode_mad(mad));
  } else if ((state_ == State::accepting || state_ == State::over) && has_last_) {
    tell_last();
  } else if (!policy_.takes_repeated_request) {
    fail_stale();
  }
}

void Session::take_reply(const Mad& mad) {
  if (state_ == State::established && initiator_ && mad.message.local_id == peer_id_) {
    if (policy_.takes_repeated_request) {
      say_once(CmKind::ready_to_use, mad.transaction);  // the first was lost
    } else {
      fail_stale();
    }
    return;
  }
  if (state_ != State::requesting) {
    if (state_ == State::over && peer_id_ == 0) {
      tell_refusal(mad, wire::kRejectedByConsumer);  // our user has left
    } else {
      take_misplaced();
    }
    return;
  }
  peer_id_ = mad.message.local_id;
  if (mad.message.queue_pair < kFirstPeerPair) {
    refuse_reply(mad);
    return;
  }
  peer_queue_pair_ = mad.message.queue_pair;
  note_terms(mad.message, terms_.path_mtu);
  manager_.note_peer(*this);
  const SharedBend bent = std::move(bent_);
  established_now();
  Mad ready = answer(CmKind::ready_to_use);
  ready.transaction = mad.transaction;
  if (bent && bent->index == kReadyToUse) {
    manager_.send_bent(peer_, encode_mad(ready), *bent, datagrams_);
  } else {
    tell(encode_mad(ready));
  }
  if (user_ != nullptr) {
    user_->on_accepted(mad.message.private_data);
  }
}

void Session::tell_refusal(const Mad& reply, std::uint16_t reason) {
  Mad refusal = answer(CmKind::connect_reject);
  refusal.transaction = reply.transaction;
  refusal.message.subject = CmSubject::reply;
  refusal.message.remote_id = reply.message.local_id;
  refusal.message.reason = reason;
  tell(encode_mad(refusal));
}

// A connection cannot have the queue pair of management.
void Session::refuse_reply(const Mad& reply) {
  tell_refusal(reply, wire::kRejectedForServiceType);
  has_last_ = false;
  end(State::over);
  if (user_ != nullptr) {
    user_->on_unreachable(
        {Errc::cannot_connect, text("the REP names queue pair %u", reply.message.queue_pair)});
  }
}

void Session::take_reject(const Mad& mad) {
  if (state_ != State::requesting && state_ != State::accepting) {
    return;
  }
  has_last_ = false;
  if (initiator_) {
    peer_id_ = mad.message.local_id;  // that of an initiator is known by its REQ
  }
  end(State::over);
  if (user_ != nullptr) {
    user_->on_rejected(mad.message.reason, mad.message.private_data);
  }
}

bool Session::may_be_from_peer(const Inbound& datagram) {
  return host_of(*datagram.from) != host_of(peer_) ||
         identifications_.takes(datagram.identification, manager_.runtime().reactor.round_time());
}

void Session::show_damaged(const Inbound& datagram) {
  if (host_of(*datagram.from) == host_of(peer_)) {
    datagrams_.received(datagram);
  }
}

bool Session::take(const Inbound& datagram, const Packet& packet) {
  if (host_of(*datagram.from) != host_of(peer_)) {
    return false;
  }
  datagrams_.received(datagram);
  if (state_ == State::accepting && policy_.repairs_startup) {
    // A packet shows that the peer has our acceptance.
    established_now();
    if (user_ != nullptr) {
      user_->on_ready();
    }
  }
  if (state_ == State::failing && packet.headers.traits().is_request()) {
    PacketHeaders refusal;
    refusal.base.opcode = Opcode::acknowledge;
    refusal.base.psn = nak_psn_;
    refusal.ack = *nak_;
    send(refusal, {});
  } else if (state_ == State::established && user_ != nullptr) {
    user_->on_packet(packet);
  } else {
    return state_ == State::over || state_ == State::disconnecting;
  }
  return true;
}

void Session::take_refusal() {
  if (state_ == State::over || state_ == State::unused) {
    return;
  }
  const bool ended = state_ == State::disconnecting;
  has_last_ = false;
  end(State::over);
  if (user_ == nullptr) {
    return;
  }
  if (ended) {
    user_->on_ended();
  } else {
    user_->on_unreachable({Errc::cannot_connect, "no RoCE end has UDP port 4791 there"});
  }
}

void Session::fail_stale() {
  const bool known = state_ == State::accepting || state_ == State::established;
  if (!known) {
    return;
  }
  has_last_ = false;
  end(State::over);
  if (user_ != nullptr) {
    user_->on_peer_ended();
  }
}

void Session::take_misplaced() {
  if (!policy_.ignores_misplaced) {
    fail_stale();
  }
}

}  // namespace steertag::fabric::roce
