// Dispatch of management datagrams, and the numbers of sessions.
#include "fabric/roce/connection_manager.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"
#include "fabric/roce/session.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::uint32_t kFirstQueuePair = 0x10;  // of those that we draw
constexpr std::uint16_t kFirstFreePort = 49152;  // to the last (RFC 6335 6)

}  // namespace

ConnectionManager::ConnectionManager(Runtime& runtime, Port& port)
    : runtime_(runtime), port_(port) {}

ConnectionManager::~ConnectionManager() = default;

// A number that is not taken. With a broken source the next free one.
std::uint32_t ConnectionManager::draw(std::uint32_t mask, const auto& taken) const {
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < runtime_.limits.roce.number_tries; ++i) {
    number = static_cast<std::uint32_t>(runtime_.numbers()) & mask;
    if (!taken(number)) {
      return number;
    }
  }
  while (taken(number)) {
    number = (number + 1) & mask;
  }
  return number;
}

std::optional<std::uint16_t> ConnectionManager::offer(Service& service, std::uint16_t wanted) {
  if (wanted == 0) {
    wanted = static_cast<std::uint16_t>(draw(0xffff, [this](std::uint32_t port) {
      return port < kFirstFreePort || services_.contains(static_cast<std::uint16_t>(port));
    }));
  }
  if (!services_.emplace(wanted, &service).second) {
    return std::nullopt;
  }
  return wanted;
}

std::uint16_t ConnectionManager::next_port() {
  const std::uint64_t number = last_port_ ? *last_port_ + std::uint64_t{1} : runtime_.random();
  last_port_ = static_cast<std::uint16_t>(number | kFirstFreePort);
  return *last_port_;
}

void ConnectionManager::withdraw(std::uint16_t port) {
  services_.erase(port);
}

Session* ConnectionManager::make_session(const Address& peer) {
  if (sessions_.size() >= runtime_.limits.roce.sessions) {
    return nullptr;
  }
  SessionNumbers numbers;
  numbers.id = draw(~std::uint32_t{0},
                    [this](std::uint32_t id) { return id == 0 || sessions_.contains(id); });
  numbers.queue_pair = draw(wire::kPsnMask, [this](std::uint32_t number) {
    return number < kFirstQueuePair || number == wire::kPsnMask || queue_pairs_.contains(number);
  });
  numbers.first_psn = static_cast<std::uint32_t>(runtime_.numbers()) & wire::kPsnMask;
  auto session = std::make_unique<Session>(*this, peer, numbers);
  Session* const made = session.get();
  queue_pairs_.emplace(numbers.queue_pair, made);
  sessions_.emplace(numbers.id, std::move(session));
  return made;
}

Session* ConnectionManager::find_queue_pair(std::uint32_t number) const {
  const auto found = queue_pairs_.find(number);
  return found == queue_pairs_.end() ? nullptr : found->second;
}

void ConnectionManager::note_peer(Session& session) {
  const Host host = host_of(session.peer());
  peer_ids_[{host, session.peer_id()}] = &session;
  peer_queue_pairs_[{host, session.peer_queue_pair()}] = &session;
}

void ConnectionManager::forget_peer(Session& session) {
  const PeerNumber number{host_of(session.peer()), session.peer_queue_pair()};
  if (const auto found = peer_queue_pairs_.find(number);
      found != peer_queue_pairs_.end() && found->second == &session) {
    peer_queue_pairs_.erase(found);
  }
}

void ConnectionManager::retire(Session& session) {
  forget_peer(session);
  const PeerNumber number{host_of(session.peer()), session.peer_id()};
  if (const auto found = peer_ids_.find(number);
      found != peer_ids_.end() && found->second == &session) {
    peer_ids_.erase(found);
  }
  queue_pairs_.erase(session.numbers().queue_pair);
  const auto found = sessions_.find(session.numbers().id);
  runtime_.ended.push_back(std::move(found->second));
  sessions_.erase(found);
}

PacketHeaders ConnectionManager::next_headers() {
  PacketHeaders packet;
  packet.base.opcode = Opcode::datagram_send_only;
  packet.base.queue_pair = kManagementQueuePair;
  packet.base.migrated = true;
  packet.base.psn = psn_ = psn_after(psn_);
  packet.datagram = {kManagementKey, kManagementQueuePair};
  return packet;
}

Outbound ConnectionManager::send(const Address& to, const MadOctets& octets) {
  const View payload(octets);
  const wire::InvariantCrc crc(route_of(port_.local(), to));
  return port_.send(to, crc, next_headers(), {&payload, 1});
}

void ConnectionManager::send_bent(const Address& to, const MadOctets& octets,
                                  const BentPacket& bent, DatagramObservation& observation) {
  const View payload(octets);
  const wire::InvariantCrc crc(route_of(port_.local(), to));
  port_.send_bent(to, crc, next_headers(), {&payload, 1}, bent, observation);
}

bool ConnectionManager::take(const Inbound& datagram, View octets) {
  const Address& from = *datagram.from;
  const auto mad = decode_mad(octets);
  if (!mad) {
    return false;
  }
  if (mad->message.kind == CmKind::connect_request) {
    take_request(datagram, *mad);
    return true;
  }
  const auto found = sessions_.find(mad->message.remote_id);
  if (found != sessions_.end() && host_of(found->second->peer()) == host_of(from)) {
    found->second->take(datagram, *mad);
    return true;
  }
  // We may have forgotten what the peer has not.
  if (mad->message.kind == CmKind::connect_reply) {
    reject(roce_address(from), *mad, wire::kRejectedForId, CmSubject::reply);
  } else if (mad->message.kind == CmKind::disconnect_request) {
    Mad reply;
    reply.transaction = mad->transaction;
    reply.message.kind = CmKind::disconnect_reply;
    reply.message.local_id = mad->message.remote_id;
    reply.message.remote_id = mad->message.local_id;
    send(roce_address(from), encode_mad(reply));
  }
  return false;
}

void ConnectionManager::reject(const Address& to, const Mad& of, std::uint16_t reason,
                               CmSubject subject) {
  Mad answer;
  answer.transaction = of.transaction;
  answer.message.subject = subject;
  answer.message.kind = CmKind::connect_reject;
  answer.message.local_id = of.message.remote_id;
  answer.message.remote_id = of.message.local_id;
  answer.message.reason = reason;
  send(to, encode_mad(answer));
}

Service* ConnectionManager::find_service(std::uint64_t id) const {
  const auto port = wire::tcp_port(id);
  auto found = port ? services_.find(*port) : services_.end();
  if (found == services_.end()) {
    found = std::ranges::find_if(
        services_, [](const auto& each) { return !each.second->policy().checks_service; });
  }
  return found == services_.end() ? nullptr : found->second;
}

void ConnectionManager::take_request(const Inbound& datagram, const Mad& mad) {
  const Address from = roce_address(*datagram.from);
  const Host host = host_of(from);
  Service* const service = find_service(mad.message.service);
  const bool knows = service == nullptr || service->policy().knows_requests;
  if (const auto known = peer_ids_.find({host, mad.message.local_id});
      knows && known != peer_ids_.end()) {
    known->second->take(datagram, mad);
    return;
  }
  if (service == nullptr) {
    reject(from, mad, wire::kRejectedForService, CmSubject::request);
    return;
  }
  if (!mad.message.reliable() || mad.message.queue_pair < kFirstPeerPair) {
    reject(from, mad, wire::kRejectedForServiceType, CmSubject::request);
    return;
  }
  if (wire::path_mtu_bytes(mad.message.path_mtu) == 0) {
    reject(from, mad, wire::kRejectedForMtu, CmSubject::request);
    return;
  }
  if (const auto stale = peer_queue_pairs_.find({host, mad.message.queue_pair});
      knows && stale != peer_queue_pairs_.end()) {
    reject(from, mad, wire::kRejectedAsStale, CmSubject::request);
    service->on_stale_request();
    stale->second->fail_stale();
    return;
  }
  if ((mad.message.partition & kDefaultPartition) != kDefaultPartition) {
    reject(from, mad, wire::kRejectedAsUnsupported, CmSubject::request);
    return;
  }
  if (mad.message.path_mtu >
      path_mtu_within(port_.mtu(), is_ipv4(from), runtime_.limits.roce.path_mtu)) {
    reject(from, mad, wire::kRejectedForMtu, CmSubject::request);
    return;
  }
  auto startup = runtime_.startups.admit(from);
  if (!startup) {
    if (startup.error().begins_burst) {
      service->on_refused(from, {Errc::too_many_startups, std::move(startup.error().reason)});
    }
    return;  // the peer repeats its request
  }
  Session* const session = make_session(from);
  if (session != nullptr) {
    session->take_first(datagram, mad, std::move(*startup));
    service->on_request(*session,
                        wire::consumer_data(mad.message.service, mad.message.private_data));
  }
}

void ConnectionManager::refused(const Address& peer) {
  const Host host = host_of(peer);
  std::vector<Session*> affected;
  for (const auto& [id, session] : sessions_) {
    if (host_of(session->peer()) == host) {
      affected.push_back(session.get());
    }
  }
  for (Session* const session : affected) {
    session->take_refusal();  // it retires at a deadline, not inside the call
  }
}

void ConnectionManager::notify_room() {
  std::vector<Session*> all;
  for (const auto& [id, session] : sessions_) {
    all.push_back(session.get());
  }
  for (Session* const session : all) {
    session->notify_room();
  }
}

}  // namespace steertag::fabric::roce
