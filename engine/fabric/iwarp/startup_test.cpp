// MPA startup of both roles against peers of every kind: old, strict, hostile, silent.
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/iwarp/listener.h"
#include "fabric/iwarp/mpa_startup.h"
#include "fabric/iwarp/startup_error.h"
#include "fabric/iwarp/terminate.h"
#include "fabric/testing/raw_peer.h"
#include "net/testing/descriptors.h"

namespace steertag::fabric::iwarp {
namespace {

using net::testing::descriptor_limit;
using net::testing::make_useless;
using net::testing::next_descriptor;
using net::testing::NoFurtherDescriptors;

using namespace fabric::testing;  // NOLINT: the test endpoints

// The clock of these tests moves only when a test moves it, and counts who looks at it.
struct Hand {
  std::shared_ptr<std::int64_t> now = std::make_shared<std::int64_t>(1);
  std::shared_ptr<int> looks = std::make_shared<int>(0);
  Clock clock() const {
    return [at = now, count = looks] { return ++*count, *at; };
  }
  void advance(std::chrono::milliseconds by) { *now += std::chrono::nanoseconds(by).count(); }
};

StartupFrame request(std::uint8_t revision = 2) {
  StartupFrame frame;
  frame.crc = true;
  frame.revision = revision;
  if (revision == 2) {
    frame.enhanced = Enhanced{false, false, false, false, 16, 16};
  }
  return frame;
}

StartupFrame reply() {
  StartupFrame frame = request();
  frame.kind = StartupKind::reply;
  return frame;
}

class ResponderTest : public ::testing::Test {
 protected:
  // What our responder answers to these octets: its reply frame, or nothing if it closes.
  std::optional<StartupFrame> answer_to(const Bytes& octets) {
    pair.drop_server();
    RawPeer peer = RawPeer::to(pair.listener->port());
    std::size_t sent = 0;
    EXPECT_TRUE(pair.turn([&] {
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
  Hand hand;
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
    ASSERT_TRUE(pair.turn([&] { return !pair.refusals.empty(); })) << octets << " octets";
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
  EXPECT_TRUE(pair.turn([&] { return told; }));
}

TEST_F(ResponderTest, TriesAgainLaterWhenThereAreNoDescriptors) {
  EXPECT_FALSE(answer_to(octets("rehearsal")));
  expect_told(Errc::protocol_error, "rehearsal");
  RawPeer peer = RawPeer::to(pair.listener->port());
  const Bytes whole = encode(request());
  ASSERT_EQ(peer.send(whole), whole.size());
  {
    const NoFurtherDescriptors none;
    ASSERT_TRUE(pair.turn([&] { return !pair.refusals.empty(); }));
    EXPECT_EQ(pair.refusals[0].peer, "");
    expect_told(Errc::cannot_listen, "accept: " + error_text(EMFILE));
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
  EXPECT_TRUE(pair.turn([&] { return pair.server_notices.established; }));
}

TEST_F(ResponderTest, StartupsThatHaveNotEndedAreBounded) {
  std::vector<RawPeer> peers;
  const rlimit descriptors = descriptor_limit();
  if (descriptors.rlim_cur < 2 * kMostPendingStartups + 100) {
    GTEST_SKIP() << "at most " << descriptors.rlim_cur << " descriptors";
  }
  for (std::size_t i = 0; i <= kMostPendingStartups; ++i) {
    peers.push_back(RawPeer::to(pair.listener->port()));
    pair.provider->poll(std::chrono::milliseconds(0));
  }
  ASSERT_TRUE(pair.turn([&] { return !pair.refusals.empty(); }));
  EXPECT_EQ(pair.refusals[0].peer, peers.back().name());
  expect_told(Errc::local_close, "1024 other startups are not complete");
  EXPECT_TRUE(pair.turn([&] { return !peers.back().read(); }));
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
    ASSERT_TRUE(pair.turn([&] {
      sent += peer.send(View(whole).subspan(sent, octets - sent));
      pair.provider->poll(std::chrono::milliseconds(1));
      return sent == octets;
    }));
    pair.provider->poll(std::chrono::milliseconds(0));
    hand.advance(Limits{}.startup);
    EXPECT_TRUE(pair.turn([&] { return !peer.read(); })) << octets << " octets";
    expect_told(Errc::timed_out, "no MPA request within 5000 ms");
  }
}

TEST_F(ResponderTest, UnansweredRequestIsClosedWithItsObject) {
  pair.answer = [](std::unique_ptr<ConnectionRequest> incoming) { incoming.reset(); };
  EXPECT_FALSE(answer_to(encode(request())));
}

// The system watches no more descriptors: every attempt ends with an error, none in silence.
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
  ASSERT_TRUE(pair.turn([&] { return pair.client_notices.refused.has_value(); }));
  EXPECT_EQ(pair.client_notices.refused->code, Errc::cannot_connect);
  EXPECT_NE(pair.client_notices.refused->detail.find("epoll"), std::string::npos);
}

TEST_F(UnwatchedTest, AcceptFails) {
  std::unique_ptr<ConnectionRequest> request;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> incoming) { request = std::move(incoming); };
  auto connection =
      pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, {}, pair.client_notices);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(pair.turn([&] { return request != nullptr; }));
  make_useless(epoll);
  const auto accepted = request->accept(*pair.server_domain, {}, pair.server_notices);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, Errc::no_device);
}

class InitiatorTest : public ::testing::Test {
 protected:
  void start() {
    auto connection = pair.provider->connect(
        *parse_url("iwarp://127.0.0.1:" + std::to_string(server.port())), *pair.client_domain,
        options, pair.client_notices, &pair.client_events, &pair.client_bytes);
    ASSERT_TRUE(connection);
    pair.client = std::move(*connection);
    ASSERT_TRUE(pair.turn([&] {
      if (!peer) {
        peer = server.accept();
      } else {
        peer->read();
      }
      const auto lacking = peer ? octets_lacking(StartupKind::request, peer->got)
                                : Expected<std::size_t, StartupFault>{1};
      return lacking && *lacking == 0;
    }));
    before = peer->got.size();
  }
  void start_and_answer(const Bytes& octets, bool end = false) {
    ASSERT_NO_FATAL_FAILURE(start());
    peer->send(octets);
    if (end) {
      peer->end();
    }
    ASSERT_TRUE(pair.turn([&] {
      peer->read();
      return pair.client_notices.refused || pair.client_notices.established;
    }));
  }
  void expect_refused(Errc code, const std::string& part) {
    ASSERT_TRUE(pair.client_notices.refused) << "it was established";
    EXPECT_EQ(pair.client_notices.refused->code, code);
    EXPECT_NE(pair.client_notices.refused->detail.find(part), std::string::npos)
        << pair.client_notices.refused->detail;
  }
  Hand hand;
  Pair pair{iwarp_factory(), {}, hand.clock()};
  RawServer server;
  std::optional<RawPeer> peer;
  std::size_t before = 0;
  ConnectionOptions options;
};

TEST_F(InitiatorTest, SendsTheRequestThatTheOptionsDescribe) {
  options.private_data = hex("f6ab0e18 01010303");
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(peer->got, hex("4d504120 49442052 65712046 72616d65 5002000c 00100010 "
                           "f6ab0e18 01010303"));
}

TEST_F(InitiatorTest, NamesAForeignProtocol) {
  start_and_answer(octets("HTTP/1.1 400 Bad Request\r\n\r\n"));
  expect_refused(Errc::protocol_error,
                 "the peer is not an iWARP endpoint: expected an MPA reply, got \"HTTP/1.1 400");
}

TEST_F(InitiatorTest, TakesAReplyInAnyPieces) {
  StartupFrame frame = reply();
  frame.private_data = octets("abcdef");
  const Bytes whole = encode(frame);
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    ASSERT_NO_FATAL_FAILURE(start());
    peer->send(View(whole).first(cut));
    pair.provider->poll(std::chrono::milliseconds(1));
    peer->send(View(whole).subspan(cut));
    ASSERT_TRUE(pair.turn([&] { return pair.client_notices.established; })) << "cut at " << cut;
    EXPECT_EQ(pair.client_notices.peer_private_data, octets("abcdef"));
    pair.client.reset();
    peer.reset();
    pair.client_notices = {};
    pair.client_events = {};
  }
}

TEST_F(InitiatorTest, CutReplyIsAnError) {
  Bytes cut = encode(reply());
  cut.pop_back();
  start_and_answer(cut, true);
  expect_refused(Errc::peer_closed, "cut");
}

TEST_F(InitiatorTest, ClosedWithoutAReply) {
  start_and_answer({}, true);
  expect_refused(Errc::peer_closed, "no MPA reply");
}

TEST_F(InitiatorTest, SilenceEndsAtTheTimeLimit) {
  options.startup_timeout = std::chrono::milliseconds(777);
  ASSERT_NO_FATAL_FAILURE(start());
  hand.advance(std::chrono::milliseconds(776));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.client_notices.refused);
  hand.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(pair.turn([&] { return pair.client_notices.refused.has_value(); }));
  expect_refused(Errc::timed_out, "no MPA reply within 777 ms");
}

// Replies that an initiator cannot take, and the Terminate that it sends then, if any.
struct BadReply {
  const char* name;
  void (*set)(StartupFrame&);
  Errc code;
  const char* told;
  const char* terminate;
};

class BadReplyTest : public InitiatorTest, public ::testing::WithParamInterface<BadReply> {};

TEST_P(BadReplyTest, IsRefused) {
  StartupFrame frame = reply();
  GetParam().set(frame);
  start_and_answer(encode(frame));
  expect_refused(GetParam().code, GetParam().told);
  EXPECT_TRUE(pair.turn([&] { return !peer->read(); }));
  EXPECT_EQ(peer->terminate(before), GetParam().terminate);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadReplyTest,
    ::testing::Values(BadReply{"RequestInsteadOfAReply",
                               [](StartupFrame& frame) { frame.kind = StartupKind::request; },
                               Errc::protocol_error, "same MPA role", "none"},
                      BadReply{"Markers", [](StartupFrame& frame) { frame.markers = true; },
                               Errc::unsupported, "markers", "none"},
                      BadReply{"TooLargeAnOrd",
                               [](StartupFrame& frame) { frame.enhanced->ord = 17; },
                               Errc::unsupported, "insufficient IRD", "2/0/6"},
                      BadReply{"PeerToPeerToAClientServerRequest",
                               [](StartupFrame& frame) {
                                 frame.enhanced = Enhanced{true, false, true, false, 16, 16};
                               },
                               Errc::unsupported, "RTR", "2/0/7"}),
    [](const auto& each) { return each.param.name; });

TEST_F(InitiatorTest, EnhancedReplyToAPlainRequest) {
  options.mpa_revision = 1;
  start_and_answer(encode(reply()));
  expect_refused(Errc::protocol_error, "enhanced");
}

TEST_F(InitiatorTest, ReplyOfRevisionOneIsTaken) {
  StartupFrame frame = reply();
  frame.revision = 1;
  frame.enhanced.reset();
  start_and_answer(encode(frame));
  EXPECT_TRUE(pair.client_notices.established);
}

TEST_F(InitiatorTest, RejectShowsPrivateData) {
  StartupFrame frame = reply();
  frame.rejected = true;
  frame.private_data = octets("busy");
  start_and_answer(encode(frame));
  expect_refused(Errc::rejected, "");
  EXPECT_EQ(pair.client_notices.peer_private_data, octets("busy"));
  EXPECT_EQ(
      pair.client_events.lines,
      (std::vector<std::string>{"client Connect 0", "server Reject 4", "server Disconnect clean"}));
}

TEST_F(InitiatorTest, PeersIrdOfZeroForbidsReads) {
  StartupFrame frame = reply();
  frame.enhanced->ird = 0;
  start_and_answer(encode(frame));
  ASSERT_TRUE(pair.client_notices.established);
  const auto sink = pair.client_domain->allocate(1, {});
  EXPECT_EQ(pair.client->most_outbound_reads(), 0);
  EXPECT_EQ(pair.client->rdma_read(*sink, 0, 1, 1, 0, 1).error().code, Errc::unsupported);
}

TEST_F(InitiatorTest, RawStartupReplacesTheRequest) {
  options.raw_startup = octets("nonsense");
  auto connection = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, options,
                                           pair.client_notices, nullptr, &pair.client_bytes);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(pair.turn([&] { return pair.client_notices.refused.has_value(); }));
  EXPECT_EQ(pair.client_bytes.from_client, octets("nonsense"));
  EXPECT_EQ(pair.client_notices.refused->code, Errc::peer_closed);
}

TEST_F(InitiatorTest, RawStartupReplacesTheReply) {
  pair.server_options.raw_startup = octets("HTTP/1.1 200 OK");
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.client_notices.refused);
  EXPECT_EQ(pair.client_notices.refused->code, Errc::protocol_error);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
