// MPA startup of the responder against initiators of every kind: old, strict, hostile, silent.
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/iwarp/listener.h"
#include "fabric/iwarp/startup_error.h"
#include "fabric/testing/raw_peer.h"
#include "fabric/testing/startup_frames.h"
#include "net/testing/descriptors.h"

namespace steertag::fabric::iwarp {
namespace {

using net::testing::make_useless;
using net::testing::next_descriptor;
using net::testing::NoFurtherDescriptors;

using namespace fabric::testing;  // NOLINT: the test endpoints

class ResponderTest : public ::testing::Test {
 protected:
  // Our responder's answer to these octets: its reply frame, or nothing if it closes.
  std::optional<StartupFrame> answer_to(const Bytes& octets) {
    pair.drop_server();
    RawPeer peer = RawPeer::to(pair.listener->port());
    std::size_t sent = 0;
    EXPECT_TRUE(pair.poll_until([&] {
      sent += peer.send(View(octets).subspan(sent));
      peer.read();
      const auto lacking = octets_lacking(StartupKind::reply, peer.got);
      return peer.ended || (lacking && *lacking == 0);
    }));
    after = std::move(peer);
    const auto frame = decode_startup(StartupKind::reply, after->got);
    return frame ? std::optional(*frame) : std::nullopt;
  }
  void expect_told(Errc code, const std::string& part) {
    ASSERT_EQ(pair.refusals.size(), 1U) << part;
    const Pair::Refusal& refusal = pair.refusals[0];
    EXPECT_EQ(refusal.error.code, code) << part;
    EXPECT_NE(refusal.error.detail.find(part), std::string::npos) << refusal.error.detail;
    pair.refusals.clear();
  }
  ScriptedPeer hand;
  Pair pair{iwarp_factory(), {}, hand.clock()};
  std::optional<RawPeer> after;
};

TEST_F(ResponderTest, AnswersRevisionOneWithRevisionOne) {
  const auto frame = answer_to(encode(request(1)));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->revision, 1);
  EXPECT_FALSE(frame->enhanced);
  EXPECT_TRUE(pair.server_notices.established);
}

TEST_F(ResponderTest, BoundsDepthsByTheInitiators) {
  StartupFrame frame = request();
  frame.enhanced = Enhanced{false, false, false, false, 3, 100};
  const auto answer = answer_to(encode(frame));
  ASSERT_TRUE(answer && answer->enhanced);
  EXPECT_EQ(answer->enhanced->ord, 3) << "RFC 6581 9.1: at most the initiator's IRD";
  EXPECT_EQ(answer->enhanced->ird, 16) << "what we can really take";
}

TEST_F(ResponderTest, EchoesDepthsThatAreNotNegotiated) {
  StartupFrame frame = request();
  frame.enhanced = Enhanced{false, false, false, false, kNotNegotiated, kNotNegotiated};
  const auto answer = answer_to(encode(frame));
  ASSERT_TRUE(answer && answer->enhanced);
  EXPECT_EQ(answer->enhanced->ord, kNotNegotiated);
  EXPECT_EQ(answer->enhanced->ird, kNotNegotiated);
}

TEST_F(ResponderTest, OffersRtrOfAWriteOrReadOnly) {
  StartupFrame frame = request();
  frame.enhanced = Enhanced{true, true, true, false, 16, 16};
  auto answer = answer_to(encode(frame));
  ASSERT_TRUE(answer && answer->enhanced);
  EXPECT_EQ(*answer->enhanced, (Enhanced{true, false, true, false, 16, 16}));
  frame.enhanced = Enhanced{true, true, false, false, 16, 16};
  answer = answer_to(encode(frame));
  EXPECT_EQ(*answer->enhanced, (Enhanced{true, false, true, true, 16, 16}));
}

TEST_F(ResponderTest, CrcIsOnIfEitherSideAsks) {
  for (const bool client : {false, true}) {
    for (const bool server : {false, true}) {
      pair.server_options.crc = server;
      StartupFrame frame = request();
      frame.crc = client;
      const auto answer = answer_to(encode(frame));
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->crc, client || server);
    }
  }
}

TEST_F(ResponderTest, RejectsAnInitiatorThatNeedsMarkers) {
  StartupFrame frame = request();
  frame.markers = true;
  const auto answer = answer_to(encode(frame));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->rejected);
  EXPECT_FALSE(pair.server);
  expect_told(Errc::unsupported, "markers");
}

TEST_F(ResponderTest, ClosesOnWhatIsNotARequest) {
  Bytes revision = encode(request());
  revision[17] = std::byte{3};
  Bytes endless = encode(request());
  endless[18] = std::byte{0xff};
  const std::vector<std::pair<Bytes, std::string>> cases{
      {octets("GET / HTTP/1.1\r\n\r\n"),
       "the peer is not an iWARP endpoint: expected an MPA request, got \"GET / HTTP/1.1"},
      {Bytes(1), "got \".\""},
      {Bytes(100000), "got \"....................\""},
      {encode(reply()), "MPA request: both ends act in the same MPA role"},
      {revision, "the MPA revision is neither 1 nor 2"},
      {endless, "PD_Length exceeds 512 octets"},
  };
  for (const auto& [octets, told] : cases) {
    EXPECT_FALSE(answer_to(octets)) << printable(octets);
    EXPECT_TRUE(after->ended);
    EXPECT_FALSE(pair.server) << "the owner was asked";
    expect_told(Errc::protocol_error, told);
  }
}

TEST_F(ResponderTest, TellsWhoWentWithoutAWholeRequest) {
  const Bytes whole = encode(request());
  for (const std::size_t octets : {std::size_t{0}, std::size_t{5}, whole.size() - 1}) {
    RawPeer peer = RawPeer::to(pair.listener->port());
    ASSERT_EQ(peer.send(View(whole).first(octets)), octets);
    const std::string name = peer.name();
    peer.end();
    ASSERT_TRUE(pair.poll_until([&] { return !pair.refusals.empty(); })) << octets << " octets";
    EXPECT_EQ(pair.refusals[0].peer, name);
    expect_told(Errc::peer_closed, octets == 0 ? "no MPA request came" : "the MPA request is cut");
  }
}

TEST_F(ResponderTest, ListenerMayGoWhenItIsToldOfARefusal) {
  std::unique_ptr<Listener> other;
  bool told = false;
  auto listening = pair.provider->listen(
      *parse_url("iwarp://127.0.0.1:0"), [](std::unique_ptr<ConnectionRequest>) {},
      [&](const std::string&, const Error&) {
        told = true;
        other.reset();
      });
  ASSERT_TRUE(listening);
  other = std::move(*listening);
  RawPeer::to(other->port()).end();
  EXPECT_TRUE(pair.poll_until([&] { return told; }));
}

TEST_F(ResponderTest, TriesAgainLaterWhenThereAreNoDescriptors) {
  EXPECT_FALSE(answer_to(octets("rehearsal")));
  expect_told(Errc::protocol_error, "rehearsal");
  RawPeer peer = RawPeer::to(pair.listener->port());
  const Bytes whole = encode(request());
  ASSERT_EQ(peer.send(whole), whole.size());
  {
    const NoFurtherDescriptors none;
    ASSERT_TRUE(pair.poll_until([&] { return !pair.refusals.empty(); }));
    EXPECT_EQ(pair.refusals[0].peer, "");
    expect_told(Errc::no_descriptors, "accept: " + error_text(EMFILE));
    *hand.looks = 0;
    pair.provider->poll(std::chrono::milliseconds(20));
    EXPECT_LT(*hand.looks, 20) << "the wait is not one";
    hand.advance(kAcceptPause);
    pair.provider->poll(std::chrono::milliseconds(0));
    pair.provider->poll(std::chrono::milliseconds(0));
    EXPECT_TRUE(pair.refusals.empty()) << "told once";
  }
  EXPECT_FALSE(pair.server);
  hand.advance(kAcceptPause);
  EXPECT_TRUE(pair.poll_until([&] { return pair.server_notices.established; }));
}

TEST_F(ResponderTest, RefusesOctetsBeforeTheReply) {
  bool asked = false;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> incoming) {
    asked = true;
    const auto accepted =
        incoming->accept(*pair.server_domain, pair.server_options, pair.server_notices);
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().code, Errc::protocol_error);
  };
  Bytes early = encode(request());
  early.push_back(std::byte{0});
  EXPECT_FALSE(answer_to(early));
  EXPECT_TRUE(asked);
}

TEST_F(ResponderTest, ClosesASilentInitiatorAfterTheLimit) {
  for (const std::size_t octets : {std::size_t{0}, std::size_t{1}, std::size_t{23}}) {
    RawPeer peer = RawPeer::to(pair.listener->port());
    const Bytes whole = encode(request());
    std::size_t sent = 0;
    ASSERT_TRUE(pair.poll_until([&] {
      sent += peer.send(View(whole).subspan(sent, octets - sent));
      pair.provider->poll(std::chrono::milliseconds(1));
      return sent == octets;
    }));
    pair.provider->poll(std::chrono::milliseconds(0));
    hand.advance(Limits{}.startup);
    EXPECT_TRUE(pair.poll_until([&] { return !peer.read(); })) << octets << " octets";
    expect_told(Errc::timed_out, "no MPA request within 5000 ms");
  }
}

TEST_F(ResponderTest, AnEndAndTheLimitMayComeInOneRound) {
  RawPeer peer = RawPeer::to(pair.listener->port());
  const Bytes whole = encode(request());
  ASSERT_TRUE(pair.poll_until([&] { return peer.send(View(whole).first(5)) == 5; }));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  peer.end();
  hand.advance(Limits{}.startup);  // the owner was away for this time
  ASSERT_TRUE(pair.poll_until([&] { return !pair.refusals.empty(); }));
  expect_told(Errc::peer_closed, "the MPA request is cut");
}

TEST_F(ResponderTest, UnansweredRequestIsClosedWithItsObject) {
  pair.answer = [](std::unique_ptr<ConnectionRequest> incoming) { incoming.reset(); };
  EXPECT_FALSE(answer_to(encode(request())));
}

// The system watches no more descriptors: every attempt ends with an error, none silently.
class UnwatchedTest : public ::testing::Test {
 protected:
  int epoll = next_descriptor();  // the provider's first one
  Pair pair{iwarp_factory()};
};

TEST_F(UnwatchedTest, ListenFails) {
  make_useless(epoll);
  const auto listening = pair.provider->listen(*parse_url("iwarp://127.0.0.1:0"), {});
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().code, Errc::cannot_listen);
}

TEST_F(UnwatchedTest, ConnectIsRefused) {
  make_useless(epoll);
  auto connection =
      pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, {}, pair.client_notices);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused.has_value(); }));
  EXPECT_EQ(pair.client_notices.refused->code, Errc::cannot_connect);
  EXPECT_NE(pair.client_notices.refused->detail.find("epoll"), std::string::npos);
}

TEST_F(UnwatchedTest, AcceptFails) {
  std::unique_ptr<ConnectionRequest> request;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> incoming) { request = std::move(incoming); };
  auto connection =
      pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, {}, pair.client_notices);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(pair.poll_until([&] { return request != nullptr; }));
  make_useless(epoll);
  const auto accepted = request->accept(*pair.server_domain, {}, pair.server_notices);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, Errc::no_device);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
