// Requests open connections, replies and rejections settle them, disconnections end them.
#include "capture/infiniband/manager.h"

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

/// An end of the path that a request names; packets of RoCE go where the request went.
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

void Manager::read(const TransportPacket& packet) {
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

bool Manager::is_nfs_port(std::uint64_t service) const {
  const auto port = ib::tcp_port(service);
  return port && (*port == kNfsRdmaPort ||
                  std::ranges::find(options_.ports, *port) != options_.ports.end());
}

void Manager::on_request(const TransportPacket& packet, const CmMessage& request) {
  if (!request.reliable) return;
  const auto known = pairs_.find([&](KnownPair& pair) {
    return pair.exchange() &&
           pair.exchange()->is(packet.source, packet.destination, request.local_id);
  });
  if (known != pairs_.end()) {
    const Exchange& exchange = *known->exchange();
    if (exchange.client_queue_pair == request.queue_pair &&
        exchange.server_psn == request.starting_psn) {
      return;  // sent again
    }
    known->end(packet.place);
    pairs_.remove(known);
  }
  Exchange exchange;
  exchange.place = packet.place;
  exchange.client = packet.source;
  exchange.server = packet.destination;
  exchange.client_path = path_end(packet.source, request.local_lid);
  exchange.server_path = path_end(packet.destination, request.remote_lid);
  exchange.client_id = request.local_id;
  exchange.client_queue_pair = request.queue_pair;
  exchange.server_psn = request.starting_psn;
  exchange.private_data = KeptPrivateData(request);
  pairs_.end_users(exchange.client_path, request.queue_pair, packet.place, nullptr);

  FeedHints hints;
  hints.fabric = fabric_of(packet.source);
  hints.ends = {end_text(exchange.client_path, request.queue_pair), end_text(exchange.server_path)};
  hints.client = Side::a;
  hints.known_port = is_nfs_port(request.service);
  const auto pair = pairs_.add(sinks_, std::move(hints), std::move(exchange));
  pair->connection().set_mtu(ib::path_mtu_bytes(request.path_mtu));

  const auto early = std::ranges::find_if(early_replies_, [&](const EarlyReply& reply) {
    return pair->exchange()->is(reply.client, reply.server, reply.client_id);
  });
  if (early == early_replies_.end()) return;
  const EarlyReply reply = std::move(*early);
  early_replies_.erase(early);
  establish(pair, reply);
}

void Manager::on_reply(const TransportPacket& packet, const CmMessage& message) {
  EarlyReply reply;
  reply.place = packet.place;
  reply.client = packet.destination;
  reply.server = packet.source;
  reply.client_id = message.remote_id;
  reply.server_id = message.local_id;
  reply.queue_pair = message.queue_pair;
  reply.client_psn = message.starting_psn;
  reply.private_data = KeptPrivateData(message);
  const auto pair = pairs_.find([&](KnownPair& each) {
    return each.exchange() && each.exchange()->is(reply.client, reply.server, reply.client_id);
  });
  if (pair != pairs_.end()) {
    if (!pair->exchange()->answered && !pair->connection().over()) establish(pair, reply);
    return;  // or sent again
  }
  const bool again = std::ranges::any_of(early_replies_, [&](const EarlyReply& each) {
    return each.client == reply.client && each.server == reply.server &&
           each.client_id == reply.client_id && each.server_id == reply.server_id;
  });
  if (again) return;
  if (early_replies_.size() == kMostEarlyReplies) early_replies_.pop_front();
  early_replies_.push_back(std::move(reply));
}

void Manager::establish(PairTable::Position pair, const EarlyReply& reply) {
  Exchange& exchange = *pair->exchange();
  exchange.answered = true;
  exchange.server_id = reply.server_id;
  pairs_.end_users(exchange.server_path, reply.queue_pair, reply.place, &*pair);
  pair->connection().feed().set_end(Side::b, end_text(exchange.server_path, reply.queue_pair));
  pair->accept(reply.place, reply.private_data);
  pair->connection().start_at(Side::a, reply.client_psn);
  pairs_.index(pair, Side::a, exchange.to_server(reply.queue_pair));
  pairs_.index(pair, Side::b, exchange.to_client());
  replay_early(pair, reply.client_psn, exchange.server_psn);
}

/// Packets of the connection that were captured before its reply; others between the same queue
/// pairs are of a connection before it.
void Manager::replay_early(PairTable::Position pair, std::uint32_t client_psn,
                           std::uint32_t server_psn) {
  struct Early {
    Side sender;
    KeptPacket kept;
  };
  std::vector<Early> packets;
  for (const Side sender : {Side::a, Side::b}) {
    for (KeptPacket& kept : strangers_.take(*pair->flow(sender))) {
      const bool request = kept.packet.traits().is_request();
      const bool by_client = request == (sender == Side::a);
      const std::uint32_t first = by_client ? client_psn : server_psn;
      if (is_early(first, kept.packet.base.psn)) packets.push_back({sender, std::move(kept)});
    }
  }
  std::ranges::stable_sort(packets, {},
                           [](const Early& early) { return early.kept.packet.place.frame; });
  for (const Early& early : packets) pairs_.read({pair, early.sender}, early.kept.packet);
}

/// The connection that a message other than a request or reply is about, and the message's sender.
std::optional<PairTable::Sender> Manager::party(const TransportPacket& packet,
                                                const CmMessage& message) {
  std::optional<PairTable::Sender> found;
  const auto pair = pairs_.find([&](KnownPair& each) {
    const auto& exchange = each.exchange();
    if (!exchange) return false;
    const auto server_is = [&](std::uint32_t id) {
      return !exchange->answered || exchange->server_id == 0 || id == 0 ||
             exchange->server_id == id;
    };
    if (exchange->is(packet.source, packet.destination, message.local_id) &&
        server_is(message.remote_id)) {
      found = PairTable::Sender{{}, Side::a};
    } else if (exchange->is(packet.destination, packet.source, message.remote_id) &&
               server_is(message.local_id)) {
      found = PairTable::Sender{{}, Side::b};
    }
    return found.has_value();
  });
  if (found) {
    found->pair = pair;
  } else if (message.kind == CmKind::disconnect_request) {
    // Of a connection that was joined.
    found = pairs_.sender_of({packet.source, packet.destination, message.queue_pair});
  }
  return found;
}

void Manager::on_other(const TransportPacket& packet, const CmMessage& message) {
  const auto sender = party(packet, message);
  if (!sender) return;
  KnownPair& pair = *sender->pair;
  switch (message.kind) {
    case CmKind::connect_reject:
      pair.reject(packet.place, sender->side, message);
      break;
    case CmKind::disconnect_request:
      pair.disconnect(packet.place, sender->side);
      break;
    case CmKind::disconnect_reply:  // the request was not captured
      pair.disconnect(packet.place, other(sender->side));
      break;
    default:
      break;
  }
  pairs_.recount(sender->pair);
}

void Manager::note_cut(const TransportPacket& packet) {
  if (!packet.payload_cut()) return;
  const FlowKey hosts{packet.source, packet.destination, 0};
  if (std::ranges::find(cut_setups_, hosts) != cut_setups_.end()) return;
  if (cut_setups_.size() == kMostCutSetups) cut_setups_.pop_front();
  cut_setups_.push_back(hosts);
}

bool Manager::setup_cut(const FlowKey& flow) const {
  return std::ranges::any_of(cut_setups_, [&](const FlowKey& hosts) {
    return (hosts.source == flow.source && hosts.destination == flow.destination) ||
           (hosts.source == flow.destination && hosts.destination == flow.source);
  });
}

const EarlyReply* Manager::early_reply(const FlowKey& to_server) const {
  for (const EarlyReply& reply : early_replies_) {
    if (reply.queue_pair == to_server.queue_pair && reply.server == to_server.destination &&
        reply.client == to_server.source) {
      return &reply;
    }
  }
  return nullptr;
}

}  // namespace steertag::capture::infiniband
