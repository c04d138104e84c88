// Requests open connections; replies and rejections complete the setup; disconnects end them.
#include "capture/infiniband/cm_tracker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/ip_service.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;
using ib::CmKind;

constexpr std::uint16_t kNoLid = 0;
constexpr std::uint16_t kPermissiveLid = 0xffff;

/// An end of the path that a request names. RoCE packets follow the request's own addresses.
Address path_end(const Address& manager, std::uint16_t lid) {
  const bool named = lid != kNoLid && lid != kPermissiveLid;
  return manager.kind == Address::Kind::lid && named ? of_lid(lid) : manager;
}

bool is_setup(std::uint16_t attribute) {
  const auto kind = static_cast<CmKind>(attribute);
  return kind == CmKind::connect_request || kind == CmKind::connect_reply;
}

bool is_early(std::uint32_t first, std::uint32_t psn) {
  const std::int32_t distance = ib::psn_distance(first, psn);
  return distance >= 0 && distance < kMostEarlyPackets;
}

}  // namespace

void CmTracker::read(const TransportPacket& packet) {
  if (packet.payload.size() < ib::kMadHeaderBytes) return note_cut(packet);
  const ib::MadHeader header = ib::decode_mad_header(packet.payload.data());
  if (!header.is_communication()) return;
  const auto message = ib::decode_cm(header.attribute, packet.payload.subspan(ib::kMadHeaderBytes));
  if (!message) {
    if (is_setup(header.attribute)) note_cut(packet);
    return;
  }
  switch (message->kind) {
    case CmKind::connect_request:
      return on_request(packet, *message);
    case CmKind::connect_reply:
      return on_reply(packet, *message);
    default:
      return on_other(packet, *message);
  }
}

bool CmTracker::is_nfs_port(std::uint64_t service) const {
  const auto port = ib::tcp_port(service);
  return port && (*port == kNfsRdmaPort ||
                  std::ranges::find(options_.ports, *port) != options_.ports.end());
}

void CmTracker::on_request(const TransportPacket& packet, const CmMessage& request) {
  if (!request.reliable()) return;
  const auto known = pairs_.find([&](FlowPair& pair) {
    return pair.handshake() &&
           pair.handshake()->is(packet.source, packet.destination, request.local_id);
  });
  if (known != pairs_.end()) {
    const CmHandshake& handshake = *known->handshake();
    if (handshake.client_queue_pair == request.queue_pair &&
        handshake.server_psn == request.starting_psn) {
      return;  // retransmitted
    }
    known->end(packet.stamp);
    pairs_.remove(known);
  }
  CmHandshake handshake;
  handshake.stamp = packet.stamp;
  handshake.client = packet.source;
  handshake.server = packet.destination;
  handshake.client_path = path_end(packet.source, request.primary.local_lid);
  handshake.server_path = path_end(packet.destination, request.primary.remote_lid);
  handshake.client_id = request.local_id;
  handshake.client_queue_pair = request.queue_pair;
  handshake.server_psn = request.starting_psn;
  handshake.private_data = KeptPrivateData(request);
  pairs_.end_users(handshake.client_path, request.queue_pair, packet.stamp, nullptr);

  ConnectionHints hints;
  hints.fabric = fabric_of(packet.source);
  hints.ends = {end_text(handshake.client_path, request.queue_pair),
                end_text(handshake.server_path)};
  hints.client = Side::a;
  hints.known_port = is_nfs_port(request.service);
  const auto pair = pairs_.add(sinks_, std::move(hints), std::move(handshake));
  pair->connection().set_mtu(ib::path_mtu_bytes(request.path_mtu));

  const auto early = std::ranges::find_if(early_replies_, [&](const EarlyReply& reply) {
    return pair->handshake()->is(reply.client, reply.server, reply.client_id);
  });
  if (early == early_replies_.end()) return;
  const EarlyReply reply = std::move(*early);
  early_replies_.erase(early);
  establish(pair, reply);
}

void CmTracker::on_reply(const TransportPacket& packet, const CmMessage& message) {
  EarlyReply reply;
  reply.stamp = packet.stamp;
  reply.client = packet.destination;
  reply.server = packet.source;
  reply.client_id = message.remote_id;
  reply.server_id = message.local_id;
  reply.queue_pair = message.queue_pair;
  reply.client_psn = message.starting_psn;
  reply.private_data = KeptPrivateData(message);
  const auto pair = pairs_.find([&](FlowPair& each) {
    return each.handshake() && each.handshake()->is(reply.client, reply.server, reply.client_id);
  });
  if (pair != pairs_.end()) {
    if (!pair->handshake()->answered && !pair->connection().over()) establish(pair, reply);
    return;  // or a retransmission
  }
  const bool again = std::ranges::any_of(early_replies_, [&](const EarlyReply& each) {
    return each.client == reply.client && each.server == reply.server &&
           each.client_id == reply.client_id && each.server_id == reply.server_id;
  });
  if (again) return;
  if (early_replies_.size() == kMostEarlyReplies) early_replies_.pop_front();
  early_replies_.push_back(std::move(reply));
}

void CmTracker::establish(PairTable::Position pair, const EarlyReply& reply) {
  CmHandshake& handshake = *pair->handshake();
  handshake.answered = true;
  handshake.server_id = reply.server_id;
  pairs_.end_users(handshake.server_path, reply.queue_pair, reply.stamp, &*pair);
  pair->connection().classifier().set_end(Side::b,
                                          end_text(handshake.server_path, reply.queue_pair));
  pair->accept(reply.stamp, reply.private_data);
  pair->connection().start_at(Side::a, reply.client_psn);
  pairs_.index(pair, Side::a, handshake.to_server(reply.queue_pair));
  pairs_.index(pair, Side::b, handshake.to_client());
  replay_early(pair, reply.client_psn, handshake.server_psn);
}

/// Replays packets of the connection that were captured before its reply. Others between the same
/// queue pairs belong to an earlier connection.
void CmTracker::replay_early(PairTable::Position pair, std::uint32_t client_psn,
                             std::uint32_t server_psn) {
  struct Early {
    Side sender;
    KeptPacket kept;
  };
  std::vector<Early> packets;
  for (const Side sender : {Side::a, Side::b}) {
    for (KeptPacket& kept : unmatched_.take(*pair->flow(sender))) {
      const bool request = kept.packet.traits().is_request();
      const bool by_client = request == (sender == Side::a);
      const std::uint32_t first = by_client ? client_psn : server_psn;
      if (is_early(first, kept.packet.base.psn)) packets.push_back({sender, std::move(kept)});
    }
  }
  std::ranges::stable_sort(packets, {},
                           [](const Early& early) { return early.kept.packet.stamp.frame; });
  for (const Early& early : packets) pairs_.read({pair, early.sender}, early.kept.packet);
}

/// Finds the connection and the sender of a message that is neither request nor reply.
std::optional<PairTable::Sender> CmTracker::party(const TransportPacket& packet,
                                                  const CmMessage& message) {
  std::optional<PairTable::Sender> found;
  const auto pair = pairs_.find([&](FlowPair& each) {
    const auto& handshake = each.handshake();
    if (!handshake) return false;
    // Only a REJ may lack an id: it may answer a message that could not be read.
    const bool may_lack = message.kind == CmKind::connect_reject;
    const auto server_is = [&](std::uint32_t id) {
      return !handshake->answered || handshake->server_id == 0 || (may_lack && id == 0) ||
             handshake->server_id == id;
    };
    if (handshake->is(packet.source, packet.destination, message.local_id) &&
        server_is(message.remote_id)) {
      found = PairTable::Sender{{}, Side::a};
    } else if (handshake->is(packet.destination, packet.source, message.remote_id) &&
               server_is(message.local_id)) {
      found = PairTable::Sender{{}, Side::b};
    }
    return found.has_value();
  });
  if (found) {
    found->pair = pair;
  } else if (message.kind == CmKind::disconnect_request) {
    // The ids of a joined connection are unknown.
    found = pairs_.sender_of({packet.source, packet.destination, message.queue_pair});
    if (found && found->pair->handshake()) found.reset();
  }
  return found;
}

void CmTracker::on_other(const TransportPacket& packet, const CmMessage& message) {
  const auto sender = party(packet, message);
  if (!sender) return;
  FlowPair& pair = *sender->pair;
  switch (message.kind) {
    case CmKind::connect_reject:
      pair.reject(packet.stamp, sender->side, message);
      break;
    case CmKind::disconnect_request:
      pair.request_disconnect(packet.stamp, sender->side, message.queue_pair);
      break;
    case CmKind::disconnect_reply:
      pair.reply_disconnect(packet.stamp, sender->side);
      break;
    default:
      break;
  }
  pairs_.recount(sender->pair);
}

void CmTracker::note_cut(const TransportPacket& packet) {
  if (!packet.payload_cut()) return;
  const FlowKey hosts{packet.source, packet.destination, 0};
  if (std::ranges::find(cut_setups_, hosts) != cut_setups_.end()) return;
  if (cut_setups_.size() == kMostCutSetups) cut_setups_.pop_front();
  cut_setups_.push_back(hosts);
}

bool CmTracker::setup_cut(const FlowKey& flow) const {
  return std::ranges::any_of(cut_setups_, [&](const FlowKey& hosts) {
    return (hosts.source == flow.source && hosts.destination == flow.destination) ||
           (hosts.source == flow.destination && hosts.destination == flow.source);
  });
}

const EarlyReply* CmTracker::early_reply(const FlowKey& to_server) const {
  for (const EarlyReply& reply : early_replies_) {
    if (reply.queue_pair == to_server.queue_pair && reply.server == to_server.destination &&
        reply.client == to_server.source) {
      return &reply;
    }
  }
  return nullptr;
}

}  // namespace steertag::capture::infiniband
