// What an interposer of the client sees and may change.
#include "client/interposer.h"

#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class Recorder final : public ClientInterposer {
 public:
  void on_connect(ConnectStep& step) override {
    notices.emplace_back("connect");
    if (receives) step.endpoint.receives = *receives;
  }
  void on_up(UpStep& step) override {
    notices.emplace_back("up");
    step.grant = grant;
  }
  void on_request(RequestStep& step) override {
    notices.emplace_back(step.again ? "request again" : "request");
  }
  void on_form(FormStep& /*step*/) override { notices.emplace_back("form"); }
  void on_departure(CallDeparture& departure) override {
    notices.emplace_back("departure");
    if (!sends_twice) return;
    Bytes message;
    wire::encode(departure.header, message);
    for (const View part : departure.parts) message.insert(message.end(), part.begin(), part.end());
    departure.behind.push_back(std::move(message));
  }
  void on_arrival(ClientArrival& arrival) override {
    notices.emplace_back("arrival");
    arrival.taken = takes;
    arrival.receive = receive;
    arrival.disconnects = std::exchange(disconnects, false);
    if (replacement) arrival.instead = *replacement;
  }
  void on_ended(std::uint32_t xid) override {
    notices.emplace_back("ended");
    ended.push_back(xid);
  }
  void on_down() override { notices.emplace_back("down"); }

  std::vector<std::string> notices;
  std::vector<std::uint32_t> ended;
  std::optional<std::uint32_t> receives;
  std::uint32_t grant = 1;
  bool sends_twice = false;
  bool takes = false;
  bool disconnects = false;  // over the next message
  ClientArrival::Receive receive = ClientArrival::Receive::repost;
  std::optional<Bytes> replacement;
};

constexpr std::uint32_t kXid = 0x1000;

class ClientInterposerTest : public PeerTest {
 protected:
  ClientInterposerTest() { options.interposer = recorder; }

  std::optional<CallErrc> call(Nfs3Client& client) {
    const auto result = client.call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{});
    return result ? std::nullopt : std::optional(result.error().code);
  }

  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  RequesterOptions options;
};

using Notices = std::vector<std::string>;

TEST_F(ClientInterposerTest, SeesACallFromItsConnectionToItsEnd) {
  serve();
  Nfs3Client client(*provider, url, options, kXid);
  EXPECT_EQ(call(client), std::nullopt);
  EXPECT_EQ(recorder->notices,
            (Notices{"connect", "up", "request", "form", "departure", "arrival", "ended"}));
  EXPECT_EQ(recorder->ended, std::vector{kXid});
}

TEST_F(ClientInterposerTest, SeesACallAgainOnALaterConnection) {
  serve();
  Nfs3Client client(*provider, url, options, kXid);
  Requester& requester = client.requester();
  bool answered = false;
  ASSERT_TRUE(requester.submit(
      client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
      [&](const Expected<CallReply, CallError>& reply) { answered = reply.has_value(); }));
  while (requester.statistics().calls == 0) requester.step(1s);
  requester.abort_connection();
  while (!answered && requester.pending() > 0) requester.step(1s);
  EXPECT_TRUE(answered);
  EXPECT_EQ(std::ranges::count(recorder->notices, "down"), 1);
  EXPECT_EQ(std::ranges::count(recorder->notices, "request"), 1);
  EXPECT_EQ(std::ranges::count(recorder->notices, "request again"), 1);
}

TEST_F(ClientInterposerTest, ClientSeesNothingOfAMessageThatIsTaken) {
  serve();
  recorder->takes = true;
  Nfs3Client client(*provider, url, options, kXid);
  client.set_timeout(50ms);
  EXPECT_EQ(call(client), CallErrc::timed_out);
  EXPECT_EQ(client.requester().statistics().discarded, 1U);
}

TEST_F(ClientInterposerTest, AnotherMessageTakesThePlaceOfAReply) {
  serve();
  wire::Header error;
  error.xid = kXid;
  error.proc = wire::Procedure::error;
  error.error = wire::ErrorCode::chunk;
  wire::encode(error, recorder->replacement.emplace());
  Nfs3Client client(*provider, url, options, kXid);
  EXPECT_EQ(call(client), CallErrc::err_chunk);
}

TEST_F(ClientInterposerTest, MessagesFollowACall) {
  serve();
  recorder->sends_twice = true;
  Nfs3Client client(*provider, url, options, kXid);
  EXPECT_EQ(call(client), std::nullopt);
  while (client.requester().statistics().discarded == 0) client.requester().step(1s);
  EXPECT_EQ(client.requester().statistics().calls, 1U);
}

TEST_F(ClientInterposerTest, HeldReceivesAreBackForTheNextCall) {
  serve();
  recorder->receives = 1;
  recorder->receive = ClientArrival::Receive::hold;
  Nfs3Client client(*provider, url, options, kXid);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(call(client), std::nullopt) << i;
}

TEST_F(ClientInterposerTest, ConnectionEndsOverAMessage) {
  serve();
  Nfs3Client client(*provider, url, options, kXid);
  recorder->disconnects = true;
  EXPECT_EQ(call(client), std::nullopt);
  EXPECT_EQ(call(client), std::nullopt);
  EXPECT_EQ(client.requester().statistics().connections, 2U);
}

TEST_F(ClientInterposerTest, GrantAppliesBeforeTheFirstReply) {
  serve();
  constexpr std::uint32_t kGrant = 5;
  recorder->grant = kGrant;
  Nfs3Client client(*provider, url, options, kXid);
  Requester& requester = client.requester();
  for (std::uint32_t i = 0; i < kGrant; ++i) {
    ASSERT_TRUE(requester.submit(client.request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
                                 [](const Expected<CallReply, CallError>&) {}));
  }
  while (requester.pending() > 0) requester.step(1s);
  EXPECT_EQ(requester.statistics().most_in_flight, kGrant);
}

}  // namespace
}  // namespace steertag::peer::testing
