// One connection as connection management knows it, to the end of its time-wait.
//
// Its user may leave earlier.
#pragma once

#include <optional>
#include <span>

#include "fabric/net_names.h"
#include "fabric/roce/network/datagram_observation.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/network/identification_order.h"
#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/cm_wire.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/roce/packets/policy.h"

namespace steertag::fabric::roce {

class ConnectionManager;
class Port;

/// Our numbers of a session.
struct SessionNumbers {
  std::uint32_t id = 0;          // communication id
  std::uint32_t queue_pair = 0;  // 24 bits
  std::uint32_t first_psn = 0;   // that we expect
};

/// What a side tells of itself in REQ and REP.
struct Offer {
  std::uint8_t ird = 0;
  std::uint8_t ord = 0;
  std::uint8_t rnr_retries = 0;
  std::uint8_t path_mtu = 0;  // code; of the initiator alone
  std::uint16_t port = 0;     // of the initiator alone; 0: any
  View private_data;
  SharedBend bent;  // of the message that carries it
};

/// What the peer's REQ or REP says of itself. Its retry count and time-outs are not used, see
/// Limits.
struct PeerTerms {
  std::uint32_t first_psn = 0;  // that it expects
  std::uint8_t ird = 0;
  std::uint8_t ord = 0;
  std::uint8_t rnr_retries = 0;  // of ours
  std::uint8_t path_mtu = 0;     // code
};

/// The side that a session connects. It may leave inside any call.
class SessionUser {
 public:
  virtual ~SessionUser() = default;
  /// The initiator's request was accepted.
  virtual void on_accepted(View private_data) = 0;
  /// The responder's acceptance has arrived.
  virtual void on_ready() = 0;
  virtual void on_rejected(std::uint16_t reason, View private_data) = 0;
  /// The peer ended the connection, or another request shows that it has forgotten it.
  virtual void on_peer_ended() = 0;
  /// Our end was answered, or will not be.
  virtual void on_ended() = 0;
  /// The peer does not answer, or has no end at its address.
  virtual void on_unreachable(Error error) = 0;
  virtual void on_packet(const Packet& packet) = 0;
  virtual void on_room() = 0;
};

class Session final : public Channel {
 public:
  Session(ConnectionManager& manager, const Address& peer, const SessionNumbers& numbers);
  ~Session() override;

  /// Initiator: sends the request for a service.
  void request(SessionUser& user, std::uint16_t port, const Offer& offer);
  /// Responder: its user, before an answer; then the answer.
  void set_user(SessionUser& user) { user_ = &user; }
  void accept(const Offer& offer);
  void reject(std::uint16_t reason, View private_data);
  /// Asks the peer to end the connection; on_ended follows.
  void disconnect();
  /// The NAK of this PSN ended the connection. The session repeats it when the peer repeats its
  /// request, and waits for the peer to end the connection.
  void fail(std::uint32_t psn, const AckHeader& nak);
  /// Reports datagrams to `sink` until the user goes; those of a request that came before, too.
  void observe(trace::ByteSink* sink, trace::Role own) { datagrams_.observe(sink, own); }
  void set_policy(const Policy& policy) { policy_ = policy; }
  const Policy& policy() const { return policy_; }
  /// The user goes. What is still to be said, the session says alone.
  void leave();

  bool room();
  /// To the peer's queue pair.
  void send(PacketHeaders packet, std::span<const View> payload);
  /// Fault hooks: the same, altered; and a packet of the owner, to any queue pair.
  void send_bent(PacketHeaders packet, std::span<const View> payload, const BentPacket& bent);
  void send_octets(View octets);

  const Address& peer() const { return peer_; }
  /// Its port is the one that an initiator's request names.
  Address peer_end() const { return with_port(peer_, peer_port_); }
  const SessionNumbers& numbers() const { return numbers_; }
  std::uint32_t peer_id() const { return peer_id_; }
  std::uint32_t peer_queue_pair() const { return peer_queue_pair_; }
  const PeerTerms& peer_terms() const { return terms_; }
  /// Responder: whether the private data of the REQ begin with the addresses of its ends.
  bool names_ends() const { return names_ends_; }
  Port& port();

  // For the manager.
  void take_first(const Inbound& datagram, const Mad& request, net::SourceQuota::Slot startup);
  void take(const Inbound& datagram, const Mad& mad);
  /// Returns whether the packet is this session's.
  bool take(const Inbound& datagram, const Packet& packet);
  /// Whether its IPv4 identification fits those before it; of another host's nothing is known.
  bool may_be_from_peer(const Inbound& datagram);
  /// A packet with a wrong CRC, for the observer.
  void show_damaged(const Inbound& datagram);
  void take_refusal();
  void fail_stale();
  void notify_room();

  void on_ready(std::uint32_t /*events*/) override {}
  void on_deadline() override;

 private:
  enum class State : std::uint8_t {
    unused,
    requesting,  // our request has left
    requested,   // the peer's waits for our user
    accepting,   // our acceptance has left
    established,
    failing,        // our NAK ended the connection; the peer will end it
    disconnecting,  // our DREQ has left
    over,           // time-wait
  };

  void take_reply(const Mad& mad);
  void take_reject(const Mad& mad);
  void tell_refusal(const Mad& reply, std::uint16_t reason);
  void refuse_reply(const Mad& reply);
  void take_repeated_request();
  void take_misplaced();
  void established_now();
  void say(const Mad& mad);
  void tell(const MadOctets& octets);
  void tell_last();
  void say_once(CmKind kind, std::uint64_t transaction);
  std::chrono::milliseconds pace() const;
  void end(State state);
  Mad answer(CmKind kind) const;
  void note_terms(const CmMessage& message, std::uint8_t path_mtu);
  void set_deadline(std::chrono::milliseconds wait);

  ConnectionManager& manager_;
  Address peer_;
  wire::InvariantCrc crc_;  // of what we send
  SessionNumbers numbers_;
  DatagramObservation datagrams_;
  IdentificationOrder identifications_;
  SessionUser* user_ = nullptr;
  State state_ = State::unused;
  net::SourceQuota::Slot startup_;  // until the connection is established
  bool initiator_ = false;
  Reactor::Key key_ = 0;
  std::uint32_t peer_id_ = 0;
  std::uint32_t peer_queue_pair_ = 0;
  std::uint16_t peer_port_ = kRoceUdpPort;
  bool names_ends_ = false;
  PeerTerms terms_;
  std::uint64_t transaction_ = 0;
  MadOctets last_{};  // what is repeated until an answer
  bool has_last_ = false;
  SharedBend bent_;  // of last_
  Policy policy_;
  std::uint32_t tries_ = 0;
  Time give_up_ = kNever;
  std::optional<AckHeader> nak_;  // of nak_psn_
  std::uint32_t nak_psn_ = 0;
};

}  // namespace steertag::fabric::roce
