// Connection management against a raw peer: messages twice, lost, in the wrong order, and forged.
#include <gtest/gtest.h>

#include <set>

#include "fabric/roce/provider.h"
#include "fabric/testing/roce_startup_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::Notices;
using testing::octets;
constexpr std::uint32_t kId = RawEnd::kId;

TEST_F(RoceStartupTest, TheConsumersPrivateDataIsBehindTheIpHeader) {
  end.say(end.request(pair.listener->port(), "from the client"));
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
  const Mad& mad = end.mads.back();
  EXPECT_EQ(mad.transaction, 9U);
  EXPECT_EQ(mad.message.remote_id, kId);
  EXPECT_FALSE(pair.server_notices.established) << "before the ReadyToUse";
  end.say(RawEnd::answer(CmKind::ready_to_use, mad));
  turn();
  ASSERT_TRUE(pair.server_notices.established);
  Bytes expected = octets("from the client");
  expected.resize(56);
  EXPECT_EQ(pair.server_notices.peer_private_data, expected);
}

TEST_F(RoceStartupTest, AnInitiatorIsKnownByThePortThatItChose) {
  pair.client_options.local_port = 50123;
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.server);
  EXPECT_TRUE(pair.server->peer_name().ends_with(":50123")) << pair.server->peer_name();
}

TEST_F(RoceStartupTest, InitiatorsWithoutAChoiceHaveOtherPorts) {
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    ASSERT_TRUE(pair.server);
    const std::string name = pair.server->peer_name();
    names.insert(name);
    EXPECT_GE(std::stoi(name.substr(name.rfind(':') + 1)), 49152);
    pair.drop_client();
    pair.drop_server();
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST_F(RoceStartupTest, ARepeatedRequestHasTheSameReply) {
  end.say(end.request(pair.listener->port()));
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
  end.say(end.request(pair.listener->port()));
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
  EXPECT_EQ(end.mads[0].message.queue_pair, end.mads[1].message.queue_pair);
}

TEST_F(RoceStartupTest, AReplyIsRepeatedUntilItIsAnswered) {
  end.say(end.request(pair.listener->port()));
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
  now += std::chrono::nanoseconds(Limits{}.cm_response).count();
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
  end.say(RawEnd::answer(CmKind::ready_to_use, end.mads.back()));
  EXPECT_EQ(turn(), Kinds{});
  now += std::chrono::nanoseconds(Limits{}.cm_response).count();
  EXPECT_EQ(turn(), Kinds{});
}

TEST_F(RoceStartupTest, TheFirstPacketMakesGoodALostReadyToUse) {
  end.say(end.request(pair.listener->port()));
  turn();
  reply = end.mads.back();
  Bytes buffer(8);
  ASSERT_TRUE(pair.server);
  pair.server->post_receive(buffer, 1);
  end.send(packet(Opcode::send_only, 0), octets("call"));
  EXPECT_EQ(turn(), Kinds{"Acknowledge"});
  EXPECT_TRUE(pair.server_notices.established);
  ASSERT_EQ(pair.server_notices.received.size(), 1U);
  EXPECT_EQ(pair.server_notices.received[0].bytes, octets("call"));
}

TEST_F(RoceStartupTest, RequestsThatCannotBeServedAreRejected) {
  const std::uint16_t port = pair.listener->port();
  const auto rejected = [&](const Mad& mad) -> std::uint16_t {
    end.say(mad);
    EXPECT_EQ(turn(), Kinds{"ConnectReject"});
    return end.mads.back().message.reason;
  };
  EXPECT_EQ(rejected(end.request(static_cast<std::uint16_t>(port ^ 1))), 8) << "no such service";
  Mad mad = end.request(port);
  mad.message.service = 0x0000000001110000 | port;  // of UDP
  EXPECT_EQ(rejected(mad), 8) << "no such service";
  mad = end.request(port);
  mad.message.service_type = wire::kUnreliableConnection;
  EXPECT_EQ(rejected(mad), 9) << "no reliable connection";
  mad = end.request(port);
  mad.message.queue_pair = 1;
  EXPECT_EQ(rejected(mad), 9) << "the queue pair of management";
  mad = end.request(port);
  mad.message.path_mtu = 6;
  EXPECT_EQ(rejected(mad), 26) << "no such path MTU";
}

TEST_F(RoceStartupTest, APeersQueuePairMayBeTheFirstBehindThoseOfManagement) {
  Mad mad = end.request(pair.listener->port());
  mad.message.queue_pair = 2;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
}

/// A network whose interface takes the packets of Ethernet.
class EthernetDatagrams final : public Datagrams {
 public:
  explicit EthernetDatagrams(std::unique_ptr<Datagrams> network) : network_(std::move(network)) {}
  int descriptor() const override { return network_->descriptor(); }
  const Address& local() const override { return network_->local(); }
  std::uint32_t mtu() const override { return 1500; }
  std::size_t send(std::span<const Outbound> packets) override { return network_->send(packets); }
  std::span<const Inbound> receive() override { return network_->receive(); }
  std::optional<Address> refusal() override { return network_->refusal(); }

 private:
  std::unique_ptr<Datagrams> network_;
};

class RoceEthernetTest : public RoceStartupTest {
 protected:
  RoceEthernetTest() : RoceStartupTest(over_ethernet()) {}
  static testing::Factory over_ethernet() {
    testing::Factory factory = testing::roce_factory();
    factory.make = [](const fabric::Limits& limits, Clock clock) {
      const auto open = [](const Address& local,
                           int bytes) -> Expected<std::unique_ptr<Datagrams>, Error> {
        auto network = UdpDatagrams::open(local, bytes);
        if (!network) return tl::unexpected(network.error());
        return std::make_unique<EthernetDatagrams>(std::move(*network));
      };
      return *make_provider(system_random(), limits, std::move(clock), open);
    };
    return factory;
  }
};

TEST_F(RoceEthernetTest, ARequestForPacketsThatDoNotFitTheInterfaceIsRejected) {
  Mad mad = end.request(pair.listener->port());
  mad.message.path_mtu = 4;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"ConnectReject"}) << "2048 octets";
  EXPECT_EQ(end.mads.back().message.reason, wire::kRejectedForMtu);
  mad.message.path_mtu = 3;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"ConnectReply"}) << "1024 octets";
}

TEST_F(RoceStartupTest, AQueuePairInUseShowsThatItsConnectionIsStale) {
  establish();
  Mad again = end.request(pair.listener->port());
  again.message.local_id = kId + 1;
  end.say(again);
  EXPECT_EQ(turn(), Kinds{"ConnectReject"});
  EXPECT_EQ(end.mads.back().message.reason, wire::kRejectedAsStale);
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
}

TEST_F(RoceStartupTest, ARejectOfAnotherIdLeavesNoConnectionBehind) {
  end.say(end.request(pair.listener->port()));
  ASSERT_EQ(turn(), Kinds{"ConnectReply"});
  Mad reject = RawEnd::answer(CmKind::connect_reject, end.mads.back());
  reject.message.local_id = kId + 1;
  reject.message.subject = CmSubject::reply;
  end.say(reject);
  turn();
  pair.drop_server();
  now += std::chrono::nanoseconds(fabric::Limits{}.roce.time_wait).count() + 1;
  turn();
  end.say(end.request(pair.listener->port()));
  EXPECT_EQ(turn(), Kinds{"ConnectReply"}) << "of a new connection";
}

TEST_F(RoceStartupTest, MessagesOutOfOrderChangeNothing) {
  end.say(RawEnd::answer(CmKind::ready_to_use, {}));
  EXPECT_EQ(turn(), Kinds{});
  end.say(RawEnd::answer(CmKind::disconnect_reply, {}));
  EXPECT_EQ(turn(), Kinds{});
  end.say(RawEnd::answer(CmKind::connect_reply, {}));
  EXPECT_EQ(turn(), Kinds{"ConnectReject"}) << "a reply to a request that was not made";
  establish();
  end.say(RawEnd::answer(CmKind::connect_reply, reply));
  EXPECT_EQ(turn(), Kinds{});
  end.say(RawEnd::answer(CmKind::connect_reject, reply));
  EXPECT_EQ(turn(), Kinds{});
  end.say(RawEnd::answer(CmKind::disconnect_reply, reply));
  EXPECT_EQ(turn(), Kinds{});
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(RoceStartupTest, ForeignAndBrokenPacketsAreDropped) {
  establish();
  Bytes buffer(8);
  pair.server->post_receive(buffer, 1);
  end.send(packet(Opcode::send_only, 0), octets("call"), 1);
  EXPECT_EQ(turn(), Kinds{}) << "with a wrong CRC";
  PacketHeaders headers = packet(Opcode::send_only, 0);
  headers.base.queue_pair ^= 1;
  end.send(headers, octets("call"));
  EXPECT_EQ(turn(), Kinds{}) << "to another queue pair";
  headers = packet(Opcode::send_only, 0);
  headers.base.partition = 0x8001;
  end.send(headers, octets("call"));
  EXPECT_EQ(turn(), Kinds{}) << "of another partition";
  headers = packet(Opcode::send_only, 0);
  headers.base.version = 1;
  end.send(headers, octets("call"));
  EXPECT_EQ(turn(), Kinds{}) << "of another version";
  end.send_octets(Bytes(3));
  EXPECT_EQ(turn(), Kinds{}) << "of three octets";
  RawEnd stranger(roce_address(resolve(*parse_url(pair.url()), false)->front()));
  stranger.send(packet(Opcode::send_only, 0), octets("call"));
  turn();
  stranger.receive();
  EXPECT_EQ(stranger.take_kinds(), Kinds{}) << "from another address than the peer's";
  EXPECT_TRUE(pair.server_notices.received.empty());
  end.send(packet(Opcode::send_only, 0), octets("call"));
  EXPECT_EQ(turn(), Kinds{"Acknowledge"});
}

TEST_F(RoceStartupTest, AnyIpIdentificationMayBeUnderTheCrc) {
  establish();
  Bytes buffer(8);
  pair.server->post_receive(buffer, 1);
  end.send(packet(Opcode::send_only, 0), octets("call"), 0, 36843);
  EXPECT_EQ(turn(), Kinds{"Acknowledge"});
}

TEST_F(RoceStartupTest, AnIpIdentificationOutOfOrderIsThatOfADamagedPacket) {
  ASSERT_NO_FATAL_FAILURE(establish());
  pair.post_receives(4, 8);
  end.send(packet(Opcode::send_only, 0), octets("call"), 0, 0);
  EXPECT_EQ(turn(), Kinds{"Acknowledge"});
  end.send(packet(Opcode::send_only, 1), octets("cold"), 0, 36843);
  EXPECT_EQ(turn(), Kinds{}) << "one of 2^16 damaged packets seems to have an identification";
  end.send(packet(Opcode::send_only, 1), octets("call"), 0, 0);
  EXPECT_EQ(turn(), Kinds{"Acknowledge"});
  ASSERT_EQ(pair.server_notices.received.size(), 2U);
  EXPECT_EQ(pair.server_notices.received[1].bytes, octets("call"));
}

TEST_F(RoceStartupTest, ByteCaptureHasIpIdentificationsAndDamagedPackets) {
  ASSERT_NO_FATAL_FAILURE(establish());
  pair.post_receives(1, 64);
  end.send(packet(Opcode::send_only, 0), {}, 0, 0xbeef);
  turn();
  end.send(packet(Opcode::send_only, 1), {}, 0xff);
  turn();
  std::vector<trace::CapturedPacket> captured = pair.server_bytes.datagrams.packets();
  std::erase_if(captured, [](const auto& each) { return each.sender == trace::Role::server; });
  ASSERT_EQ(captured.size(), 4U) << "REQ, RTU and two packets, the last with a wrong CRC";
  EXPECT_EQ(captured[2].datagram().identification, 0xbeef);
  const wire::InvariantCrc crc(route_of(end.local(), end.peer()));
  EXPECT_TRUE(crc.check(captured[2].datagram().payload, 0xbeef));
  EXPECT_FALSE(crc.identification_of(captured[3].datagram().payload));
}

// A device gives up after its retries, and Linux takes 7 of them for ever.
TEST_F(RoceStartupTest, ARequestLeavesASlowOwnerSomeSecondsBeforeTheDeviceGivesUp) {
  Url url = *parse_url(pair.url());
  url.host = std::string(end.local().text(), 0, end.local().text().rfind(':'));
  Notices notices;
  const auto client =
      pair.provider->connect(url, *pair.client_domain, {}, notices, nullptr, nullptr);
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ(turn(), Kinds{"ConnectRequest"});
  const CmMessage& request = end.mads.back().message;
  EXPECT_LT(request.retry_count, 7);
  const auto once = time_of(request.primary.local_ack_timeout);
  EXPECT_GE((request.retry_count + 1) * once, std::chrono::seconds(3));
  EXPECT_LE((request.retry_count + 1) * once, std::chrono::seconds(10));
}

TEST_F(RoceInitiatorTest, ARepeatedAcceptanceHasTheSameAnswer) {
  ASSERT_NO_FATAL_FAILURE(establish());
  end.say(acceptance);
  EXPECT_EQ(turn(), Kinds{"ReadyToUse"});
  EXPECT_FALSE(notices.closed);
}

TEST_F(RoceStartupTest, PendingRequestsAreBounded) {
  std::vector<std::unique_ptr<ConnectionRequest>> waiting;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> request) {
    waiting.push_back(std::move(request));
  };
  say_many_requests(kStartupLimits.of_source + 10);
  EXPECT_EQ(waiting.size(), kStartupLimits.of_source);
  end.say(end.request(pair.listener->port()));
  EXPECT_EQ(turn(), Kinds{"MsgRcptAck"}) << "to the request that is repeated meanwhile";
}

TEST_F(RoceStartupTest, AcceptedRequestsAreBoundedUntilTheyAreEstablished) {
  std::vector<std::unique_ptr<Connection>> accepted;
  std::vector<std::unique_ptr<Notices>> notices;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> request) {
    notices.push_back(std::make_unique<Notices>());
    accepted.push_back(
        *request->accept(*pair.server_domain, {}, *notices.back(), nullptr, nullptr));
  };
  say_many_requests(kStartupLimits.of_source + 10);
  EXPECT_EQ(accepted.size(), kStartupLimits.of_source);
  end.receive();
  end.say(RawEnd::answer(CmKind::ready_to_use, end.mads.front()));
  turn();
  say_many_requests(1, 2 * kStartupLimits.of_source);
  EXPECT_EQ(accepted.size(), kStartupLimits.of_source + 1) << "an established one gives its place";
}

TEST_F(RoceStartupTest, ARequestForAnotherPartitionIsRejected) {
  Mad mad = end.request(pair.listener->port());
  mad.message.partition = 0x1234;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"ConnectReject"});
  mad.message.partition = 0x7fff;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"ConnectReply"}) << "a limited member of the default partition";
}

TEST_F(RoceStartupTest, AReplyLowersTheReadsThatTheRequestOffers) {
  Mad mad = end.request(pair.listener->port());
  mad.message.responder_resources = 2;
  mad.message.initiator_depth = 0;
  end.say(mad);
  ASSERT_EQ(turn(), Kinds{"ConnectReply"});
  EXPECT_EQ(end.mads.back().message.responder_resources, 0);
  EXPECT_EQ(end.mads.back().message.initiator_depth, 2);
}

TEST_F(RoceInitiatorTest, AReplyMustNotNameAQueuePairOfManagement) {
  ASSERT_NO_FATAL_FAILURE(request());
  acceptance.message.queue_pair = 1;
  end.say(acceptance);
  EXPECT_EQ(turn(), Kinds{"ConnectReject"});
  ASSERT_TRUE(notices.refused);
  EXPECT_NE(notices.refused->detail.find("queue pair 1"), std::string::npos)
      << notices.refused->message();
}

TEST_F(RoceInitiatorTest, AReceiptThatPromisesNothingIsNoReasonToHurry) {
  ASSERT_NO_FATAL_FAILURE(request());
  Mad receipt = message(CmKind::message_receipt_ack);
  receipt.message.service_timeout = 0;
  for (int i = 0; i < 10; ++i) {
    end.say(receipt);
    EXPECT_EQ(turn(), Kinds{});
  }
  now += std::chrono::nanoseconds(Limits{}.cm_response).count();
  EXPECT_EQ(turn(), Kinds{"ConnectRequest"});
}

/// The first request of a provider that has these random numbers.
Mad first_request(const RandomSource& random) {
  struct Seeded final : RoceInitiatorTest {
    explicit Seeded(const Factory& factory) : RoceInitiatorTest(factory) {}
    void TestBody() override {}
    Mad asked() {
      request();
      return end.mads.back();
    }
  };
  Factory factory = testing::roce_factory();
  factory.make = [&random](const fabric::Limits& limits, Clock clock) {
    return *make_provider(random, limits, std::move(clock));
  };
  Seeded seeded(factory);
  Mad mad = seeded.asked();
  mad.message.private_data = {};
  return mad;
}

TEST(RoceNumbers, TestersWithTheSameSeedHaveOtherNumbers) {
  const auto request_of = [](std::uint64_t first) {
    // Only the first number is the provider's own. The others are those of the same seed.
    std::uint64_t drawn = 0;
    return first_request([&] { return drawn++ == 0 ? first : drawn * 0x9e3779b97f4a7c15; });
  };
  const Mad one = request_of(1);
  const Mad other = request_of(2);
  EXPECT_NE(one.message.local_id, other.message.local_id);
  EXPECT_NE(one.message.queue_pair, other.message.queue_pair);
  EXPECT_NE(one.message.local_guid, 0U);
}

}  // namespace
}  // namespace steertag::fabric::roce
