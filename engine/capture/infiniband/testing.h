// Test helpers of this reader: packets of two queue pairs, built one after the other.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "capture/connection_classifier.h"
#include "capture/infiniband/queue_pairs.h"
#include "capture/testing.h"
#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/ip_service.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/psn.h"
#include "rdma/infiniband/reject_reason.h"
#include "rdma/infiniband/routing.h"
#include "rdma/infiniband/transport.h"
#include "rdma/octets.h"

namespace steertag::capture::infiniband::testing {

namespace ib = rdma::infiniband;

/// "192.0.2." and the number.
inline IpAddress ip(std::uint8_t number) {
  IpAddress address;
  address.octets[10] = address.octets[11] = std::byte{0xff};
  rdma::store32(address.octets.data() + 12, 0xc0000200u | number);
  return address;
}

/// An RPC-over-RDMA message without chunks: a call of NFSv3 (type 0) or a reply (type 1), with
/// `more` octets behind it.
inline Bytes message(std::uint32_t xid, std::uint32_t type, std::size_t more = 0) {
  const std::uint32_t words[] = {
      xid, 1, 32, 0, 0, 0, 0, xid, type, type == 0 ? 2u : 0u, type == 0 ? 100003u : 0u, 3, 0};
  Bytes octets(sizeof words + more);
  for (std::size_t i = 0; i < std::size(words); ++i) {
    rdma::store32(octets.data() + 4 * i, words[i]);
  }
  for (std::size_t i = sizeof words; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i);
  return octets;
}
inline Bytes call(std::uint32_t xid, std::size_t more = 0) {
  return message(xid, 0, more);
}
inline Bytes reply(std::uint32_t xid, std::size_t more = 0) {
  return message(xid, 1, more);
}

/// A packet from its base transport header through its invariant CRC.
struct Carried {
  std::uint8_t source = 0;  // numbers of hosts
  std::uint8_t destination = 0;
  Bytes octets;
};

/// The encapsulation of the packets.
enum class Medium { rocev2, rocev1, infiniband };

inline void hand_over(QueuePairs& to, Medium medium, const Carried& carried, std::uint64_t frame,
                      std::size_t captured = SIZE_MAX) {
  const FrameStamp stamp{frame, static_cast<std::int64_t>(frame)};
  const std::size_t length = carried.octets.size();
  Bytes octets;
  if (medium == Medium::rocev2) {
    octets.resize(8);
    rdma::store16(octets.data(), 50000);
    rdma::store16(octets.data() + 2, ib::kRoceUdpPort);
    rdma::store16(octets.data() + 4, static_cast<std::uint16_t>(8 + length));
    octets.insert(octets.end(), carried.octets.begin(), carried.octets.end());
    const std::size_t whole = octets.size();
    octets.resize(std::min(whole, captured));
    to.read(
        Datagram{stamp, ip(carried.source), ip(carried.destination), kProtocolUdp, octets, whole});
    return;
  }
  if (medium == Medium::infiniband) {
    octets.resize(ib::kLocalRouteBytes);
    ib::LocalRoute route;
    route.source_lid = carried.source;
    route.destination_lid = carried.destination;
    route.words = static_cast<std::uint16_t>((8 + length) / 4);
    ib::encode(route, octets.data());
  } else {
    octets.resize(ib::kGlobalRouteBytes);
    ib::GlobalRoute route;
    route.payload_length = static_cast<std::uint16_t>(length);
    route.source = ip(carried.source).octets;
    route.destination = ip(carried.destination).octets;
    ib::encode(route, octets.data());
  }
  octets.insert(octets.end(), carried.octets.begin(), carried.octets.end());
  octets.resize(octets.size() + 2);  // a variant CRC, or what Ethernet adds
  const std::size_t whole = octets.size();
  octets.resize(std::min(whole, captured));
  to.read(InfinibandFrame{stamp, octets, whole, medium == Medium::infiniband});
}

/// One end of a connection: its host, its queue pair, the PSN of its next request.
struct Party {
  std::uint8_t host = 1;
  std::uint32_t queue_pair = 0x11;
  std::uint32_t psn = 0;
};

/// Builds the packets of one connection.
class Conversation {
 public:
  Party client{1, 0x11, 1000};
  Party server{2, 0x22, 77000};
  std::uint32_t mtu = 256;
  std::uint64_t service = ib::tcp_service(kNfsRdmaPort);
  std::uint32_t client_id = 0xc1;
  std::uint32_t server_id = 0x5e;
  std::vector<Carried> packets;

  Party& party(Side side) { return side == Side::a ? client : server; }

  // Management.
  void cm(Side from, ib::CmMessage cm_message) {
    cm_message.local_id = from == Side::a ? client_id : server_id;
    cm_message.remote_id = from == Side::a ? server_id : client_id;
    Bytes payload(ib::kMadBytes);
    ib::MadHeader header;
    header.attribute = static_cast<std::uint16_t>(cm_message.kind);
    ib::encode(header, payload.data());
    ib::encode(cm_message, payload.data() + ib::kMadHeaderBytes);
    Bytes deth(ib::kDatagramBytes);
    ib::encode(ib::DatagramHeader{0x80010000, 1}, deth.data());
    ib::BaseHeader base;
    base.opcode = ib::Opcode::datagram_send_only;
    base.queue_pair = ib::kManagementQueuePair;
    add(from, base, deth, payload);
  }
  void connect_request(View private_data = {}) {
    Bytes data(ib::kIpHeaderBytes);
    if (!ib::is_ip_service(service)) data.clear();
    data.insert(data.end(), private_data.begin(), private_data.end());
    ib::CmMessage request;
    request.kind = ib::CmKind::connect_request;
    request.service = service;
    request.queue_pair = client.queue_pair;
    request.starting_psn = server.psn;
    request.path_mtu = 1;
    while (128u << request.path_mtu < mtu) ++request.path_mtu;
    request.private_data = data;
    cm(Side::a, request);
  }
  void connect_reply(View private_data = {}) {
    ib::CmMessage answer;
    answer.kind = ib::CmKind::connect_reply;
    answer.queue_pair = server.queue_pair;
    answer.starting_psn = client.psn;
    answer.private_data = private_data;
    cm(Side::b, answer);
  }
  void ready() { cm(Side::a, of_kind(ib::CmKind::ready_to_use)); }
  void connect(View client_data = {}, View server_data = {}) {
    connect_request(client_data);
    connect_reply(server_data);
    ready();
  }
  void disconnect(Side from) {
    ib::CmMessage request = of_kind(ib::CmKind::disconnect_request);
    request.queue_pair = party(other(from)).queue_pair;
    cm(from, request);
    cm(other(from), of_kind(ib::CmKind::disconnect_reply));
  }
  static ib::CmMessage of_kind(ib::CmKind kind) {
    ib::CmMessage answer;
    answer.kind = kind;
    return answer;
  }

  // Requests.
  void send(Side from, View octets, std::optional<std::uint32_t> invalidate = std::nullopt) {
    parts(from, octets,
          {ib::Opcode::send_first, ib::Opcode::send_middle,
           invalidate ? ib::Opcode::send_last_invalidate : ib::Opcode::send_last,
           invalidate ? ib::Opcode::send_only_invalidate : ib::Opcode::send_only},
          {}, word(invalidate));
  }
  void write(Side from, std::uint32_t key, std::uint64_t address, View octets) {
    parts(from, octets,
          {ib::Opcode::write_first, ib::Opcode::write_middle, ib::Opcode::write_last,
           ib::Opcode::write_only},
          reth(key, address, static_cast<std::uint32_t>(octets.size())), {});
  }
  /// Returns the PSN of the first response.
  std::uint32_t read(Side from, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
    const std::uint32_t psn = party(from).psn;
    request(from, ib::Opcode::read_request, reth(key, address, length), {});
    const std::uint32_t responses = std::max<std::uint32_t>(1, (length + mtu - 1) / mtu);
    party(from).psn = ib::psn_after(psn, responses);
    return psn;
  }
  void request(Side from, ib::Opcode opcode, View extension, View payload) {
    ib::BaseHeader base;
    base.opcode = opcode;
    base.psn = party(from).psn;
    party(from).psn = ib::psn_after(base.psn);
    to_peer(from, base, extension, payload);
  }

  // Responses.
  void read_response(Side from, std::uint32_t psn, std::uint32_t length) {
    const Bytes octets(length);
    const Bytes aeth = ack_octets(0x1f);
    std::size_t at = 0;
    do {
      const std::size_t part = std::min<std::size_t>(mtu, length - at);
      const bool first = at == 0;
      const bool last = at + part == length;
      ib::BaseHeader base;
      base.psn = psn;
      base.opcode = first && last ? ib::Opcode::read_response_only
                    : first       ? ib::Opcode::read_response_first
                    : last        ? ib::Opcode::read_response_last
                                  : ib::Opcode::read_response_middle;
      to_peer(from, base, first || last ? View{aeth} : View{}, View{octets}.subspan(at, part));
      at += part;
      psn = ib::psn_after(psn);
    } while (at < length);
  }
  void acknowledge(Side from, std::uint32_t psn, std::uint8_t syndrome = 0x1f) {
    ib::BaseHeader base;
    base.opcode = ib::Opcode::acknowledge;
    base.psn = psn;
    to_peer(from, base, ack_octets(syndrome), {});
  }
  /// Acknowledges everything that the other side has sent.
  void acknowledge(Side from) {
    acknowledge(from, ib::psn_after(party(other(from)).psn, 0xffffff));
  }

 private:
  struct Opcodes {
    ib::Opcode first, middle, last, only;
  };
  static Bytes word(std::optional<std::uint32_t> value) {
    Bytes octets(value ? 4 : 0);
    if (value) rdma::store32(octets.data(), *value);
    return octets;
  }
  static Bytes reth(std::uint32_t key, std::uint64_t address, std::uint32_t length) {
    Bytes octets(ib::kRdmaBytes);
    ib::encode(ib::RdmaHeader{address, key, length}, octets.data());
    return octets;
  }
  static Bytes ack_octets(std::uint8_t syndrome) {
    Bytes octets(ib::kAckBytes);
    ib::encode(ib::AckHeader{syndrome, 0}, octets.data());
    return octets;
  }
  void parts(Side from, View octets, Opcodes opcodes, View on_first, View on_last) {
    std::size_t at = 0;
    do {
      const View part = octets.subspan(at, std::min<std::size_t>(mtu, octets.size() - at));
      const bool first = at == 0;
      at += part.size();
      const bool last = at == octets.size();
      Bytes extension(first ? on_first.begin() : on_first.end(), on_first.end());
      if (last) extension.insert(extension.end(), on_last.begin(), on_last.end());
      request(
          from,
          first ? (last ? opcodes.only : opcodes.first) : (last ? opcodes.last : opcodes.middle),
          extension, part);
    } while (at < octets.size());
  }
  void to_peer(Side from, ib::BaseHeader base, View extension, View payload) {
    base.queue_pair = party(other(from)).queue_pair;
    add(from, base, extension, payload);
  }
  void add(Side from, ib::BaseHeader base, View extension, View payload) {
    base.pad = static_cast<std::uint8_t>(-payload.size() & 3);
    Bytes octets(ib::kBaseBytes);
    ib::encode(base, octets.data());
    octets.insert(octets.end(), extension.begin(), extension.end());
    octets.insert(octets.end(), payload.begin(), payload.end());
    octets.resize(octets.size() + base.pad + ib::kInvariantCrcBytes);
    packets.push_back({party(from).host, party(other(from)).host, std::move(octets)});
  }
};

/// Reads packets as frames 1, 2, 3 ... and finishes.
inline capture::testing::AllLines read_all(const std::vector<Carried>& packets,
                                           Medium medium = Medium::rocev2) {
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (const Carried& each : packets) hand_over(reader, medium, each, ++frame);
  reader.finish();
  return all;
}

/// The lines of the only connection, or a sentence if there is not exactly one.
inline std::vector<std::string> lines_of(const std::vector<Carried>& packets,
                                         Medium medium = Medium::rocev2) {
  const auto all = read_all(packets, medium);
  if (all.connections.size() == 1) return all.connections[0].lines;
  return {std::to_string(all.connections.size()) + " connections"};
}

}  // namespace steertag::capture::infiniband::testing
