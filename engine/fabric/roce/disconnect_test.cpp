// How connections of roce end: DREQs, NAKs that end them, and packets behind the end.
#include "fabric/testing/roce_startup_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;

TEST_F(RoceStartupTest, EveryDisconnectRequestIsAnswered) {
  establish();
  Mad mad = RawEnd::answer(CmKind::disconnect_request, reply);
  mad.message.queue_pair = reply.message.queue_pair ^ 1;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{}) << "of another queue pair";
  mad.message.queue_pair = reply.message.queue_pair;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"DisconnectReply"});
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"DisconnectReply"}) << "in time-wait";
  mad.message.remote_id ^= 1;
  end.say(mad);
  EXPECT_EQ(turn(), Kinds{"DisconnectReply"}) << "of a connection that is forgotten";
}

TEST_F(RoceStartupTest, AnEndIsNoNakOfWhatThePeerStillSends) {
  establish();
  const auto region = pair.server_domain->allocate(8, {true, true});
  PacketHeaders write = packet(Opcode::write_only, 0);
  write.rdma = {region->base(), region->stag(), 8};
  region->invalidate();
  ASSERT_TRUE(pair.server->send({}, 1));
  pair.server->disconnect();
  EXPECT_EQ(turn(), Kinds{"SEND Only"}) << "its acknowledgement is awaited";
  end.send(write, octets("too late"));
  EXPECT_EQ(turn(), Kinds{"DisconnectRequest"});
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
}

TEST_F(RoceStartupTest, ADisconnectRequestIsRepeatedUntilItsLimit) {
  establish();
  pair.server->disconnect();
  EXPECT_EQ(turn(), Kinds{"DisconnectRequest"});
  now += std::chrono::nanoseconds(Limits{}.cm_response).count();
  EXPECT_EQ(turn(), Kinds{"DisconnectRequest"});
  EXPECT_FALSE(pair.server_notices.closed);
  now += std::chrono::nanoseconds(fabric::Limits{}.closing).count();
  EXPECT_EQ(turn(), Kinds{});
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::local_close);
}

TEST_F(RoceStartupTest, AFatalNakIsRepeatedAndThenTheConnectionEnds) {
  establish();
  for (int i = 0; i < 2; ++i) {
    end.send(packet(Opcode::send_middle, 0), Bytes(1024));
    EXPECT_EQ(turn(), Kinds{"Acknowledge"});
    EXPECT_EQ(ack_kind(end.packets.back().headers.ack.syndrome), AckKind::invalid_request);
  }
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
  now += std::chrono::nanoseconds(fabric::Limits{}.closing).count();
  EXPECT_EQ(turn(), Kinds{"DisconnectRequest"});
}

}  // namespace
}  // namespace steertag::fabric::roce
