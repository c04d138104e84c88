// MPA startup of the initiator against responders of every kind: strict, hostile, silent, late.
#include <gtest/gtest.h>

#include "fabric/iwarp/initiator.h"
#include "fabric/testing/raw_peer.h"
#include "fabric/testing/startup_frames.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class InitiatorTest : public ::testing::Test {
 protected:
  void start() {
    auto connection = pair.provider->connect(
        *parse_url("iwarp://127.0.0.1:" + std::to_string(server.port())), *pair.client_domain,
        options, pair.client_notices, &pair.client_events, &pair.client_bytes);
    ASSERT_TRUE(connection);
    pair.client = std::move(*connection);
    ASSERT_TRUE(pair.poll_until([&] {
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
    ASSERT_TRUE(pair.poll_until([&] {
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
  ScriptedPeer hand;
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

TEST_F(InitiatorTest, ConnectsFromThePortOfTheOptions) {
  options.local_port = RawServer().port();  // free again
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(peer->peer_port(), options.local_port);
}

TEST_F(InitiatorTest, ConnectsFromTheAddressOfTheOptions) {
  options.local_host = "127.0.0.2";
  ASSERT_NO_FATAL_FAILURE(start());
  EXPECT_EQ(peer->peer_name().rfind("127.0.0.2:", 0), 0U) << peer->peer_name();
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
    ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.established; }))
        << "cut at " << cut;
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

// The socket is ready when the next round begins, and its owner is gone.
TEST_F(InitiatorTest, MayBeAbortedBeforeItIsConnected) {
  auto connection =
      pair.provider->connect(*parse_url("iwarp://127.0.0.1:" + std::to_string(server.port())),
                             *pair.client_domain, options, pair.client_notices);
  ASSERT_TRUE(connection);
  (*connection)->abort();
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused.has_value(); }));
  expect_refused(Errc::local_close, "aborted");
}

TEST_F(InitiatorTest, MayBeDestroyedBeforeItIsConnected) {
  auto connection =
      pair.provider->connect(*parse_url("iwarp://127.0.0.1:" + std::to_string(server.port())),
                             *pair.client_domain, options, pair.client_notices);
  ASSERT_TRUE(connection);
  connection->reset();
  ASSERT_TRUE(pair.poll_until([&] {
    peer = server.accept();
    return peer.has_value();
  }));
  ASSERT_TRUE(pair.poll_until([&] { return !peer->read(); }));
  EXPECT_TRUE(peer->got.empty()) << "a request left although the connection was destroyed";
}

TEST_F(InitiatorTest, MayBeAbortedBeforeItsReplyIsRead) {
  ASSERT_NO_FATAL_FAILURE(start());
  StartupFrame whole_in_one_read = reply();
  whole_in_one_read.enhanced.reset();
  peer->send(encode(whole_in_one_read));
  pair.client->abort();
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused && !peer->read(); }));
  expect_refused(Errc::local_close, "aborted");
}

// Notifications of an initiator to its owner.
class Outcome final : public Initiator::Owner {
 public:
  void on_startup_octets(trace::Role /*sender*/, View /*bytes*/) override {}
  void on_request_sent() override { requested = true; }
  void on_reply(Socket /*socket*/, const Agreement& /*agreement*/, Bytes /*data*/) override {}
  void on_failed(Error failure, Bytes /*private_data*/) override { error = failure; }
  bool requested = false;
  std::optional<Error> error;
};

TEST_F(InitiatorTest, AddressThatNeverAnswersLeavesTimeForTheNext) {
  // Its queue is full when one connection waits: the system drops other attempts.
  Address any = resolve({"iwarp", "127.0.0.1", 0, ""}, true)->front();
  const Socket silent = make_socket(any);
  ASSERT_EQ(::bind(silent.fd(), any.generic(), any.length), 0);
  ASSERT_EQ(::listen(silent.fd(), 0), 0);
  const RawPeer waiting = RawPeer::to(local_address(silent).port());
  const Address good = resolve({"iwarp", "127.0.0.1", server.port(), ""}, false)->front();
  Reactor reactor = *Reactor::open(hand.clock());
  Outcome outcome;
  Initiator initiator(reactor, outcome, {local_address(silent), good}, options);
  initiator.start();
  reactor.poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(outcome.requested) << "the first address answers";
  hand.advance(options.startup_timeout / 2);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!outcome.requested && !outcome.error && std::chrono::steady_clock::now() < end) {
    reactor.poll(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_TRUE(outcome.requested);
  // The limit of the whole startup is the same.
  hand.advance(options.startup_timeout / 2);
  reactor.poll(std::chrono::milliseconds(0));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, Errc::timed_out);
}

TEST_F(InitiatorTest, SilenceEndsAtTheTimeLimit) {
  options.startup_timeout = std::chrono::milliseconds(777);
  ASSERT_NO_FATAL_FAILURE(start());
  hand.advance(std::chrono::milliseconds(776));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.client_notices.refused);
  hand.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused.has_value(); }));
  expect_refused(Errc::timed_out, "no MPA reply within 777 ms");
}

// Replies that an initiator refuses, and the Terminate that it then sends, if any.
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
  EXPECT_TRUE(pair.poll_until([&] { return !peer->read(); }));
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
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused.has_value(); }));
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
