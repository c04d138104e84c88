// Full operation against a bare socket that stalls, floods or breaks off.
#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/fpdu.h"
#include "fabric/testing/raw_connection.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class StallTest : public RawConnectionTest {
 protected:
  void advance(std::chrono::milliseconds by) { *now += std::chrono::nanoseconds(by).count(); }
  // Sends these octets and polls until they have been taken.
  void send_and_settle(const Bytes& octets) {
    const std::size_t had = pair.server_bytes.from_client.size();
    send(octets);
    ASSERT_TRUE(pair.poll_until(
        [&] { return pair.server_bytes.from_client.size() == had + octets.size(); }));
  }
  void expect_limit_of_silence_after(const Bytes& octets) {
    ASSERT_NO_FATAL_FAILURE(send_and_settle(octets));
    advance(Limits{}.mid_message);
    ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed && !peer->read(); }));
    EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
    EXPECT_EQ(peer->terminate(before), "0/0/0");
  }
  // The initiator's first message opens the responder's direction.
  void open_for_responses() {
    send(message(1, 1));
    ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  }
  // Until the socket takes no more.
  void send_more_than_fits() {
    surplus = pattern(64 << 20);
    const View part(surplus);
    ASSERT_TRUE(pair.server->send({&part, 1}, 1));
    std::size_t seen = 0;
    ASSERT_TRUE(pair.poll_until([&] {
      pair.provider->poll(std::chrono::milliseconds(5));
      const bool stuck = pair.server_bytes.from_server.size() == seen && seen > before;
      seen = pair.server_bytes.from_server.size();
      return stuck || pair.server_notices.closed;
    }));
  }
  // The system's buffer may grow when something arrives, and take more although the peer does not.
  void send_until_the_system_takes_no_more() {
    constexpr int kMostRounds = 200;
    constexpr int kRoundsWithoutRoom = 5;
    int without_room = 0;
    for (int round = 0; round < kMostRounds && without_room < kRoundsWithoutRoom; ++round) {
      const std::size_t seen = pair.server_bytes.from_server.size();
      ASSERT_NO_FATAL_FAILURE(send_and_settle(write(1, 1, 0)));
      pair.provider->poll(std::chrono::milliseconds(5));
      without_room = pair.server_bytes.from_server.size() == seen ? without_room + 1 : 0;
    }
    ASSERT_EQ(without_room, kRoundsWithoutRoom) << "the system's buffer has no end";
  }
  // Has the server post `count` RDMA Reads; returns the sink's STag of the first one.
  std::uint32_t read_from_peer(std::uint32_t length, std::size_t count) {
    sink = pair.server_domain->allocate(length, {});
    for (WorkId id = 0; id < count; ++id) {
      EXPECT_TRUE(pair.server->rdma_read(*sink, 0, length, 1, 0, id));
    }
    constexpr std::size_t kRequest =
        kUlpduLengthBytes + kUntaggedHeaderBytes + kReadRequestBytes + kCrcBytes;
    EXPECT_TRUE(pair.poll_until(
        [&] { return peer->read() && peer->got.size() == before + count * kRequest; }));
    return load32(peer->got.data() + before + kUlpduLengthBytes + kUntaggedHeaderBytes);
  }

  std::unique_ptr<Region> sink;
  Bytes surplus;
};

TEST_F(StallTest, CutAtEveryOctetIsTold) {
  const Bytes whole = message(1, 5);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    if (cut > 0) {
      pair.drop_server();
      peer.reset();
      SetUp();
    }
    send(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    peer->end();
    ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); })) << cut;
    EXPECT_EQ(pair.server_notices.closed->code, cut == 0 ? Errc::peer_closed : Errc::peer_reset)
        << "cut at " << cut;
    EXPECT_TRUE(pair.server_notices.received.empty());
  }
}

TEST_F(StallTest, HalfClosedPeerStillGetsItsAnswer) {
  send(read_request(100, readable->stag(), readable->base()));
  peer->end();
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed && !peer->read(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
  EXPECT_EQ(peer->got.size(), before + 2 + kTaggedHeaderBytes + 100 + 4);
}

TEST_F(StallTest, SilenceInsideAnFpduEndsAtTheTimeLimit) {
  Bytes half = message(1, 40);
  half.resize(30);
  expect_limit_of_silence_after(half);
}

TEST_F(StallTest, SilenceBetweenSegmentsEndsAtTheTimeLimit) {
  Segment first = untagged(Opcode::send, kSendQueue, 1);
  first.last = false;
  expect_limit_of_silence_after(fpdu(first, pattern(8)));
}

TEST_F(StallTest, SilenceBetweenMessagesIsNoError) {
  send(message(1, 8));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  advance(std::chrono::hours(24));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(StallTest, PeerThatNeverReadsEndsAtTheTimeLimit) {
  open_for_responses();
  send_more_than_fits();
  EXPECT_TRUE(pair.server_notices.completed.empty());
  advance(Limits{}.unsent);
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
}

TEST_F(StallTest, WhatThePeerSendsIsNoSignThatItTakesAnything) {
  open_for_responses();
  ASSERT_NO_FATAL_FAILURE(send_more_than_fits());
  ASSERT_NO_FATAL_FAILURE(send_until_the_system_takes_no_more());
  advance(Limits{}.unsent / 2);
  ASSERT_NO_FATAL_FAILURE(send_and_settle(write(1, 1, 0)));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
  advance(Limits{}.unsent / 2);
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }))
      << "the limit starts anew whenever the peer sends something";
  EXPECT_EQ(pair.server_notices.closed->detail, "the peer took no octets for 15000 ms");
}

TEST_F(StallTest, WhatThePeerTookDuringTheOwnersPauseCounts) {
  open_for_responses();
  ASSERT_NO_FATAL_FAILURE(send_more_than_fits());
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (peer->got.size() < pair.server_bytes.from_server.size() &&
         std::chrono::steady_clock::now() < patience) {
    peer->read();
  }
  ASSERT_EQ(peer->got.size(), pair.server_bytes.from_server.size());
  const std::size_t had = peer->got.size();
  advance(Limits{}.unsent);
  EXPECT_TRUE(pair.poll_until([&] {
    peer->read();
    return peer->got.size() > had || pair.server_notices.closed;
  }));
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(StallTest, ViolationIsToldAlsoWhenNoTerminateGetsAway) {
  open_for_responses();
  ASSERT_NO_FATAL_FAILURE(send_more_than_fits());
  ASSERT_NO_FATAL_FAILURE(send_until_the_system_takes_no_more());
  send(message(9, 1));
  pair.provider->poll(std::chrono::milliseconds(5));
  pair.provider->poll(std::chrono::milliseconds(5));
  ASSERT_FALSE(pair.server_notices.closed) << pair.server_notices.closed->detail;
  advance(Limits{}.unsent);
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
  const std::string& detail = pair.server_notices.closed->detail;
  EXPECT_NE(detail.find("Send with MSN 9 instead of 2"), std::string::npos) << detail;
}

TEST_F(StallTest, TheOwnersPauseIsNotTheFaultOfThePeer) {
  open_for_responses();
  advance(std::chrono::hours(1));
  send_more_than_fits();
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(StallTest, UnansweredReadEndsAtTheTimeLimit) {
  open_for_responses();
  read_from_peer(100, 2);
  advance(Limits{}.unanswered_read - std::chrono::milliseconds(1));
  // Other traffic is no progress of a read.
  send(message(2, 1));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 2; }));
  advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed && !peer->read(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
  EXPECT_EQ(pair.server_notices.closed->detail, "2 RDMA Reads went unanswered for 15000 ms");
  EXPECT_EQ(peer->terminate(before), "0/0/0");
}

TEST_F(StallTest, ReadThatIsAnsweredSlowlyGoesOn) {
  open_for_responses();
  const std::uint32_t sink_stag = read_from_peer(100, 1);
  for (std::uint32_t place = 0; place < 100; place += 10) {
    advance(Limits{}.unanswered_read - std::chrono::milliseconds(1));
    Segment segment = tagged(Opcode::read_response, sink_stag, place);
    segment.last = place == 90;
    ASSERT_NO_FATAL_FAILURE(send_and_settle(fpdu(segment, pattern(10))));
  }
  EXPECT_EQ(pair.server_notices.completed.size(), 1U);
  // Nothing is outstanding any more.
  advance(std::chrono::hours(1));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(StallTest, FloodingPeerDoesNotStarveOthers) {
  Bytes flood;
  for (int i = 0; i < 2000; ++i) {
    const Bytes one = write(1, 1, 0);
    flood.insert(flood.end(), one.begin(), one.end());
  }
  Notices other;
  auto connection = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, {}, other);
  ASSERT_TRUE(connection);
  Notices second;
  std::unique_ptr<Connection> accepted;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> request) {
    accepted = std::move(*request->accept(*pair.server_domain, {}, second));
  };
  EXPECT_TRUE(pair.poll_until([&] {
    peer->send(flood);
    return other.established;
  }));
}

TEST_F(StallTest, ResetByThePeerIsTold) {
  send(message(1, 4));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  ASSERT_TRUE(pair.server->send({}, 1));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.completed.size() == 1; }));
  peer->close();  // with an unread message: the stream is reset
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_reset);
  EXPECT_EQ(pair.server_events.lines.back(), "client Disconnect unclean");
}

}  // namespace
}  // namespace steertag::fabric::iwarp
