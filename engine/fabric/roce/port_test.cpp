// What a port gives to its network: runs, and their packets alone where it takes none.
#include "fabric/roce/port.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <utility>

#include "fabric/roce/runtime.h"
#include "fabric/roce/session.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/ipv6_roce.h"

namespace steertag::fabric::roce {
namespace {

using testing::pattern;
using Places = std::vector<std::uint16_t>;

struct Ends {
  const char* name;
  Address ours;
  Address peer;
};
const Ends kIpv4Ends = {"Ipv4", testing::numeric("192.0.2.1", kRoceUdpPort),
                        testing::numeric("192.0.2.2", kRoceUdpPort)};
const Ends kIpv6Ends = {"Ipv6", testing::numeric("2001:db8::1", kRoceUdpPort),
                        testing::numeric("2001:db8::2", kRoceUdpPort)};

struct Left {
  Bytes octets;
  std::uint16_t identification = 0;
};

/// Keeps what leaves.
class KeepingNetwork final : public Datagrams {
 public:
  explicit KeepingNetwork(const Address& local) : local_(local) {}

  int descriptor() const override { return socket_.fd(); }
  const Address& local() const override { return local_; }
  bool groups() const override { return groups_; }
  std::size_t receive_buffer() const override { return buffer; }
  std::size_t send(std::span<const Outbound> packets) override {
    std::size_t taken = 0;
    while (taken < packets.size() && !full) {
      const auto run = packets.subspan(taken, leading_run(packets.subspan(taken)));
      if (run.size() > 1 && refuses) {
        groups_ = false;
        break;
      }
      for (const Outbound& packet : run) {
        left.push_back({Bytes(packet.octets.begin(), packet.octets.end()), packet.identification});
      }
      taken += run.size();
    }
    return taken;
  }
  std::span<const Inbound> receive() override { return {}; }
  std::optional<Address> refusal() override { return {}; }

  bool refuses = false;  // runs
  bool full = false;
  std::size_t buffer = kUsualReceiveBuffer;
  std::vector<Left> left;

 private:
  Address local_;
  Socket socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};  // which always has room
  bool groups_ = true;
};

class RocePortTest : public ::testing::TestWithParam<Ends> {
 protected:
  RocePortTest() {
    auto made = std::make_unique<KeepingNetwork>(GetParam().ours);
    network = made.get();
    port = std::make_unique<Port>(runtime, std::move(made));
  }

  static PacketHeaders headers() {
    PacketHeaders packet;
    packet.base.opcode = Opcode::send_only;
    return packet;
  }
  void send(std::size_t bytes) {
    const Bytes payload = pattern(bytes);
    const View part(payload);
    ASSERT_FALSE(port->send(GetParam().peer, crc, headers(), {&part, 1}).octets.empty());
  }
  void send_with_bad_crc() {
    BentPacket bent;
    bent.bad_crc = true;
    port->send_bent(GetParam().peer, crc, headers(), {}, bent, observation);
  }
  Places places() const {
    Places all;
    for (const Left& each : network->left) {
      all.push_back(each.identification);
    }
    return all;
  }
  bool right(std::size_t index) const {
    const Left& each = network->left.at(index);
    return crc.check(each.octets, each.identification);
  }

  fabric::Limits limits;
  Runtime runtime{
      [] { return std::uint64_t{7}; }, limits, {}, {}, std::move(*Reactor::open(system_clock()))};
  wire::InvariantCrc crc{route_of(GetParam().ours, GetParam().peer)};
  DatagramObservation observation{runtime.reactor, GetParam().ours};
  KeepingNetwork* network = nullptr;
  std::unique_ptr<Port> port;
};

TEST_P(RocePortTest, PacketsOfOneSizeLeaveAsARun) {
  for (const std::size_t bytes : {100U, 100U, 100U, 40U, 100U}) send(bytes);
  port->flush();
  EXPECT_EQ(places(), (Places{0, 1, 2, 3, 0}));
  for (std::size_t i = 0; i < network->left.size(); ++i) {
    EXPECT_TRUE(right(i)) << "the CRC of packet " << i << " does not go by its place";
  }
}

TEST_P(RocePortTest, ARefusedRunLeavesAsItsPackets) {
  network->refuses = true;
  for (const std::size_t bytes : {40U, 100U, 100U, 100U}) send(bytes);
  port->flush();
  send(100);
  send(100);
  port->flush();
  EXPECT_EQ(places(), (Places{0, 0, 0, 0, 0, 0}));
  for (std::size_t i = 0; i < network->left.size(); ++i) {
    EXPECT_TRUE(right(i)) << "the CRC of packet " << i << " is still that of its place";
  }
}

TEST_P(RocePortTest, AnAlteredPacketIsInNoRun) {
  send(0);
  send_with_bad_crc();
  send(0);
  send(0);
  port->flush();
  EXPECT_EQ(places(), (Places{0, 0, 0, 1}));
  EXPECT_FALSE(right(1)) << "its CRC was mended";
}

TEST_P(RocePortTest, AWrongCrcStaysWrongWhenARunIsRefused) {
  network->refuses = true;
  send(0);
  send(0);
  send_with_bad_crc();
  port->flush();
  ASSERT_EQ(network->left.size(), 3U);
  EXPECT_FALSE(right(2));
}

TEST_P(RocePortTest, NothingJoinsARunThatWaitsForTheNetwork) {
  network->full = true;
  send(100);
  send(100);
  port->flush();
  send(100);
  network->full = false;
  port->flush();
  EXPECT_EQ(places(), (Places{0, 1, 0}));
}

TEST_P(RocePortTest, TheSocketHoldsThreeQuartersOfItsBuffer) {
  EXPECT_EQ(port->held(4096), 36U) << "of 425984 octets, 8704 each";
  EXPECT_EQ(port->held(1024), 124U);
  network->buffer = 2304;  // the least that Linux gives
  EXPECT_EQ(port->held(4096), 0U);
}

class WaitingUser final : public SessionUser {
 public:
  void on_accepted(View) override {}
  void on_ready() override {}
  void on_rejected(std::uint16_t, View) override {}
  void on_peer_ended() override {}
  void on_ended() override {}
  void on_unreachable(Error) override {}
  void on_packet(const Packet&) override {}
  void on_room() override { ++notices; }

  int notices = 0;
};

TEST_P(RocePortTest, RoomThatAFlushMakesIsNotified) {
  runtime.open = [this](const Address& local, int) -> Expected<std::unique_ptr<Datagrams>, Error> {
    auto made = std::make_unique<KeepingNetwork>(local);
    network = made.get();
    return made;
  };
  port = std::move(*Port::open(runtime, GetParam().ours));
  WaitingUser user;
  Session* const session = port->manager().make_session(GetParam().peer);
  session->request(user, 20049, {});
  network->full = true;
  port->flush();
  EXPECT_FALSE(session->room());
  network->full = false;
  port->flush();
  runtime.reactor.poll(std::chrono::milliseconds(0));
  EXPECT_EQ(user.notices, 1);
  runtime.reactor.poll(std::chrono::milliseconds(0));
  EXPECT_EQ(user.notices, 1) << "without a further refusal";
  session->leave();
}

INSTANTIATE_TEST_SUITE_P(Families, RocePortTest, ::testing::Values(kIpv4Ends, kIpv6Ends),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace steertag::fabric::roce
