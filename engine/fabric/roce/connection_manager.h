// Connection management of one port: services, sessions, and their messages.
//
// The messages go from queue pair 1 to queue pair 1 (InfiniBand specification, chapter 12).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "fabric/net_names.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/packets/cm_wire.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/roce/packets/policy.h"

namespace steertag::fabric::roce {

struct BentPacket;
class DatagramObservation;
class Port;
class Session;
struct Runtime;

/// The partition of every packet, without the bit of full membership.
inline constexpr std::uint16_t kDefaultPartition = 0x7fff;
/// The first queue pair that a connection may have: 0 and 1 are for management.
inline constexpr std::uint32_t kFirstPeerPair = 2;
/// Q_Key of queue pair 1.
inline constexpr std::uint32_t kManagementKey = 0x80010000;

/// A listener. It may end inside its call.
class Service {
 public:
  virtual ~Service() = default;
  /// The session waits for its user's answer.
  virtual void on_request(Session& session, View private_data) = 0;
  /// A request was rejected: its queue pair has a connection, which is lost.
  virtual void on_stale_request() = 0;
  /// Requests of this peer, or of all, are dropped: too many are not established.
  virtual void on_refused(const Address& peer, const Error& error) = 0;
  virtual const StartupPolicy& policy() const = 0;
};

class ConnectionManager {
 public:
  ConnectionManager(Runtime& runtime, Port& port);
  ~ConnectionManager();
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  Port& port() { return port_; }
  Runtime& runtime() { return runtime_; }

  /// The port of the service: `wanted`, or a free one for 0. Nothing if it is taken.
  std::optional<std::uint16_t> offer(Service& service, std::uint16_t wanted);
  void withdraw(std::uint16_t port);

  /// A new session with free numbers, which belongs to the manager. Null if there are too many.
  Session* make_session(const Address& peer);
  Session* find_queue_pair(std::uint32_t number) const;
  bool unused() const { return services_.empty() && sessions_.empty(); }

  /// A management message of this datagram. Returns whether anything of ours took it.
  bool take(const Inbound& datagram, View octets);
  /// The peer's host has no end at this address.
  void refused(const Address& peer);
  void notify_room();
  /// The datagram, as Port::send; or altered, as Port::send_bent.
  Outbound send(const Address& to, const MadOctets& octets);
  void send_bent(const Address& to, const MadOctets& octets, const BentPacket& bent,
                 DatagramObservation& observation);

  // For sessions.
  /// The peer's numbers are known.
  void note_peer(Session& session);
  void forget_peer(Session& session);
  /// Its time is over.
  void retire(Session& session);
  /// The port of an initiator that has chosen none. Connections after each other differ in it.
  std::uint16_t next_port();

 private:
  using PeerNumber = std::pair<Host, std::uint32_t>;
  void take_request(const Inbound& datagram, const Mad& mad);
  /// Null if there is none.
  Service* find_service(std::uint64_t id) const;
  PacketHeaders next_headers();
  void reject(const Address& to, const Mad& of, std::uint16_t reason, CmSubject subject);
  std::uint32_t draw(std::uint32_t mask, const auto& taken) const;

  Runtime& runtime_;
  Port& port_;
  std::map<std::uint16_t, Service*> services_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Session>> sessions_;  // by our id
  std::unordered_map<std::uint32_t, Session*> queue_pairs_;               // by our number
  std::map<PeerNumber, Session*> peer_ids_;
  std::map<PeerNumber, Session*> peer_queue_pairs_;
  std::uint32_t psn_ = 0;
  std::optional<std::uint16_t> last_port_;
};

}  // namespace steertag::fabric::roce
