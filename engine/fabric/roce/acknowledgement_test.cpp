// When an acknowledgement leaves: at once, or with the owner's answer.
#include <gtest/gtest.h>

#include <limits>

#include "fabric/roce/packets/formats.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;
using Lines = std::vector<std::string>;

class RoceAcknowledgementTest : public ::testing::Test {
 protected:
  /// Connects, and polls until the server has the client's call.
  void call(std::size_t prompt_polls) {
    fabric::Limits limits;
    limits.roce.prompt_polls = prompt_polls;
    pair.emplace(testing::roce_factory(), limits);
    ASSERT_NO_FATAL_FAILURE(pair->connect());
    ASSERT_TRUE(pair->server) << "no connection";
    pair->post_receives(2, 64);
    const View part(message);
    ASSERT_TRUE(pair->client->send({&part, 1}, 1));
    ASSERT_TRUE(pair->poll_until([&] { return pair->server_notices.received.size() == 1; }));
  }
  void poll() { pair->provider->poll(std::chrono::milliseconds(0)); }
  /// The packets of the server's queue pair, with their IP identifications.
  Lines server_sent() const {
    Lines lines;
    for (const trace::CapturedPacket& packet : pair->server_bytes.datagrams.packets()) {
      const trace::UdpDatagram& datagram = packet.datagram();
      const BaseHeader base = wire::decode_base(datagram.payload.data());
      if (packet.sender == trace::Role::server && base.queue_pair != kManagementQueuePair) {
        lines.push_back(std::string(wire::name(base.opcode)) + " " +
                        std::to_string(datagram.identification));
      }
    }
    return lines;
  }

  Bytes message = octets("a message that is longer than an acknowledgement");
  std::optional<testing::Pair> pair;
};

TEST_F(RoceAcknowledgementTest, LeavesAtOnce) {
  ASSERT_NO_FATAL_FAILURE(call(std::numeric_limits<std::size_t>::max()));
  EXPECT_EQ(server_sent(), Lines{"Acknowledge 0"});
}

TEST_F(RoceAcknowledgementTest, OfAPromptOwnerLeavesInARunWithTheAnswer) {
  ASSERT_NO_FATAL_FAILURE(call(0));
  EXPECT_EQ(server_sent(), Lines{}) << "it did not wait for the answer";
  const View part(message);
  ASSERT_TRUE(pair->server->send({&part, 1}, 2));
  poll();
  EXPECT_EQ(server_sent(), (Lines{"SEND Only 0", "Acknowledge 1"}));
}

TEST_F(RoceAcknowledgementTest, LeavesWithTheNextPollIfThereIsNoAnswer) {
  ASSERT_NO_FATAL_FAILURE(call(0));
  EXPECT_EQ(pair->provider->idle_for(std::chrono::milliseconds(100)).count(), 0)
      << "an owner with a loop of its own polls too late";
  poll();
  EXPECT_EQ(server_sent(), Lines{"Acknowledge 0"});
}

TEST_F(RoceAcknowledgementTest, DoesNotWaitForAnOwnerWhoEnds) {
  ASSERT_NO_FATAL_FAILURE(call(0));
  pair->server->disconnect();
  poll();
  EXPECT_EQ(server_sent(), Lines{"Acknowledge 0"});
}

}  // namespace
}  // namespace steertag::fabric::roce
