// A raw peer of connection management, and a listener and a client beside it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/roce/network/udp_datagrams.h"
#include "fabric/roce/packets/cm_wire.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::roce {

using testing::Factory;
using testing::Pair;
using testing::roce_factory;
using Kinds = std::vector<std::string>;

// One end without a state: it sends what a test says, and keeps what comes.
class RawEnd {
 public:
  static constexpr std::uint32_t kQueuePair = 0x1234;
  static constexpr std::uint32_t kId = 0x5678;
  static constexpr std::uint32_t kFirstPsn = 100;

  explicit RawEnd(const Address& peer) : peer_(peer) {
    Factory factory = roce_factory();
    const auto at = resolve({"roce", factory.another_host(), kRoceUdpPort, ""}, false);
    auto opened = UdpDatagrams::open(at->front(), 1 << 16);
    EXPECT_TRUE(opened) << opened.error().message();
    network_ = std::move(*opened);
  }

  void send(PacketHeaders headers, View payload = {}, std::uint8_t spoil = 0,
            std::uint16_t identification = 0) {
    const wire::InvariantCrc crc(route_of(network_->local(), peer_));
    Bytes packet = wire::whole_packet(headers, payload, crc, identification);
    packet.back() ^= std::byte{spoil};
    send_octets(packet);
  }
  void send_octets(const Bytes& packet) {
    const Outbound out{packet, &peer_};
    ASSERT_EQ(network_->send({&out, 1}), 1U);
  }
  void say(const Mad& mad, std::uint8_t spoil = 0) {
    PacketHeaders headers;
    headers.base.opcode = Opcode::datagram_send_only;
    headers.base.queue_pair = kManagementQueuePair;
    headers.datagram = {kManagement, kManagementQueuePair};
    const MadOctets whole = encode_mad(mad);
    send(headers, whole, spoil);
  }
  Mad request(std::uint16_t port, std::string_view private_data = "") const {
    Mad mad;
    mad.transaction = 9;
    mad.message.kind = CmKind::connect_request;
    mad.message.local_id = kId;
    mad.message.service = wire::tcp_service(port);
    mad.message.queue_pair = kQueuePair;
    mad.message.starting_psn = kFirstPsn;
    mad.message.path_mtu = 3;
    mad.message.responder_resources = 1;
    mad.message.initiator_depth = 1;
    private_data_.assign(wire::kIpHeaderBytes, std::byte{0});
    const Bytes text = testing::octets(private_data);
    private_data_.insert(private_data_.end(), text.begin(), text.end());
    mad.message.private_data = private_data_;
    return mad;
  }
  static Mad answer(CmKind kind, const Mad& to) {
    Mad mad;
    mad.transaction = to.transaction;
    mad.message.kind = kind;
    mad.message.local_id = kId;
    mad.message.remote_id = to.message.local_id;
    return mad;
  }
  /// The octets must live as long as the messages, which this keeps.
  void receive() {
    for (const Inbound& datagram : network_->receive()) {
      sender_ = *datagram.from;
      EXPECT_TRUE(wire::InvariantCrc(route_of(*datagram.from, network_->local()))
                      .check(datagram.octets, datagram.identification));
      kept_.push_back(std::make_unique<Bytes>(datagram.octets.begin(), datagram.octets.end()));
      const auto packet = wire::parse_packet(*kept_.back());
      ASSERT_TRUE(packet) << describe(packet.error());
      if (packet->headers.traits().operation == wire::Operation::datagram) {
        const auto mad = decode_mad(packet->payload);
        ASSERT_TRUE(mad);
        mads.push_back(*mad);
        kinds.push_back(std::string(wire::name(mad->message.kind)));
      } else {
        packets.push_back(*packet);
        kinds.push_back(std::string(wire::name(packet->headers.base.opcode)));
      }
    }
  }
  /// What is sent from now on goes to whoever sent the last packet.
  void turn_to_sender() { peer_ = sender_; }
  const Address& local() const { return network_->local(); }
  const Address& peer() const { return peer_; }
  Kinds take_kinds() { return std::exchange(kinds, {}); }

  std::vector<Mad> mads;
  std::vector<Packet> packets;
  Kinds kinds;

 private:
  static constexpr std::uint32_t kManagement = 0x80010000;
  Address peer_;
  Address sender_;
  std::unique_ptr<Datagrams> network_;
  std::vector<std::unique_ptr<Bytes>> kept_;
  mutable Bytes private_data_;
};

class RoceStartupTest : public ::testing::Test {
 protected:
  // A clock that stands still: nothing is repeated unless a test says so.
  explicit RoceStartupTest(const Factory& factory = roce_factory())
      : pair(factory, {}, [this] { return now; }),
        end(roce_address(resolve(*parse_url(pair.url()), false)->front())) {}

  /// What the raw end has received after the provider's turns.
  Kinds turn() {
    for (int i = 0; i < 3; ++i) {
      pair.provider->poll(std::chrono::milliseconds(0));
    }
    end.receive();
    return end.take_kinds();
  }
  /// Requests of other connections, each with its own numbers.
  void say_many_requests(std::size_t count, std::size_t first = 0) {
    for (std::size_t i = first; i < first + count; ++i) {
      Mad mad = end.request(pair.listener->port());
      mad.message.local_id += static_cast<std::uint32_t>(i);
      mad.message.queue_pair += static_cast<std::uint32_t>(i);
      end.say(mad);
      pair.provider->poll(std::chrono::milliseconds(0));
    }
  }
  void establish() {
    end.say(end.request(pair.listener->port()));
    ASSERT_EQ(turn(), Kinds{"ConnectReply"});
    reply = end.mads.back();
    end.say(RawEnd::answer(CmKind::ready_to_use, reply));
    turn();
    ASSERT_TRUE(pair.server_notices.established);
  }
  PacketHeaders packet(Opcode opcode, std::uint32_t number) const {
    PacketHeaders headers;
    headers.base.opcode = opcode;
    headers.base.queue_pair = reply.message.queue_pair;
    headers.base.psn = psn_after(reply.message.starting_psn, number);
    headers.base.acknowledge = true;
    return headers;
  }

  std::int64_t now = 1;
  Pair pair;
  RawEnd end;
  Mad reply;
};

// The provider as initiator, whose request the raw end accepts.
class RoceInitiatorTest : public RoceStartupTest {
 protected:
  using RoceStartupTest::RoceStartupTest;
  /// Its request has come, and is not answered.
  void request(const ConnectionOptions& options = {}) {
    Url url = *parse_url(pair.url());
    url.host = std::string(end.local().text(), 0, end.local().text().rfind(':'));
    auto started =
        pair.provider->connect(url, *pair.client_domain, options, notices, nullptr, nullptr);
    ASSERT_TRUE(started) << started.error().message();
    client = std::move(*started);
    ASSERT_EQ(turn(), Kinds{"ConnectRequest"});
    end.turn_to_sender();
    acceptance = RawEnd::answer(CmKind::connect_reply, end.mads.back());
    acceptance.message.queue_pair = RawEnd::kQueuePair;
  }
  void establish(const ConnectionOptions& options = {}) {
    ASSERT_NO_FATAL_FAILURE(request(options));
    end.say(acceptance);
    ASSERT_EQ(turn(), Kinds{"ReadyToUse"});
    ASSERT_TRUE(notices.established);
  }
  /// A message of the raw end behind its acceptance.
  Mad message(CmKind kind) const {
    Mad mad = acceptance;
    mad.message.kind = kind;
    return mad;
  }

  testing::Notices notices;
  std::unique_ptr<Connection> client;
  Mad acceptance;
};

}  // namespace steertag::fabric::roce
