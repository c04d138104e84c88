// How the requester of a client takes calls of the server on its own connection (RFC 8167).
#include "rpc/direction.h"
#include "server/interposer.h"
#include "server/rdma/interposed_connection.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kReverseXid = 0x5EED0001;

/// Keeps what the client sends but for its calls, and lends the connection.
class Listening final : public Interposer {
 public:
  void on_accepted(const std::shared_ptr<InterposedConnection>& accepted) override {
    connection = accepted;
  }
  void on_arrival(const std::shared_ptr<InterposedConnection>&, Arrival& arrival) override {
    const View message = arrival.message;
    if (message.size() < 4 || wire::load_u32(message.data()) != kReverseXid) return;
    answers.push_back(copy(message));
    arrival.taken = true;
  }

  std::shared_ptr<InterposedConnection> connection;
  std::vector<Bytes> answers;
};

/// Answers with so many octets behind the XID.
class Service final : public ReverseService {
 public:
  Bytes answer(View call) override {
    calls.push_back(copy(call));
    Bytes reply(octets);
    if (octets >= 8) {
      std::copy_n(call.begin(), 4, reply.begin());
      wire::store_u32(reply.data() + 4, static_cast<std::uint32_t>(rpc::MessageType::REPLY));
    }
    return reply;
  }

  std::vector<Bytes> calls;
  std::size_t octets = 24;
};

class ClientReverseTest : public PeerTest {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.interposer = std::shared_ptr<Interposer>(std::shared_ptr<void>(), &listening);
    serve(options);
    client = std::make_unique<Nfs3Client>(*provider, url, RequesterOptions{}, 1);
  }
  void TearDown() override {
    client.reset();
    server.reset();
  }

  void start(bool serves = true) {
    if (serves) client->requester().serve_reverse(&service);
    null();
  }
  /// A call of the client's own, behind which everything that it has sent before has come.
  void null() {
    bool done = false;
    ASSERT_TRUE(
        client->requester().submit(client->request(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}),
                                   [&](const Expected<CallReply, CallError>& reply) {
                                     EXPECT_TRUE(reply);
                                     done = true;
                                   }));
    drive([&] { return done; }, &client->requester());
  }
  static wire::Header transport() {
    wire::Header header;
    header.xid = kReverseXid;
    header.credit = 1;
    header.proc = wire::Procedure::msg;
    return header;
  }
  void call(const wire::Header& header, std::uint32_t rpc_xid = kReverseXid) {
    Bytes octets;
    wire::encode(header, octets);
    if (header.proc == wire::Procedure::msg) {
      wire::Writer writer(octets);
      rpc::CallHeader call;
      call.xid = rpc_xid;
      call.encode(writer);
    }
    ASSERT_TRUE(listening.connection->send(octets));
    null();
    null();
  }

  Listening listening;
  Service service;
  std::unique_ptr<Nfs3Client> client;
};

TEST_F(ClientReverseTest, CallIsAnsweredUnderItsXidWithCreditsOfItsOwn) {
  start();
  call(transport());
  ASSERT_EQ(listening.answers.size(), 1U);
  wire::Header header;
  const auto payload = wire::decode(listening.answers[0], header);
  ASSERT_TRUE(payload);
  EXPECT_EQ(header.proc, wire::Procedure::msg);
  EXPECT_EQ(header.credit, kReverseGrant);
  EXPECT_EQ(rpc::xid(*payload), kReverseXid);
  EXPECT_EQ(service.calls.size(), 1U);
  EXPECT_EQ(client->requester().statistics().reverse_calls, 1U);
  EXPECT_EQ(client->requester().statistics().discarded, 0U);
}

TEST_F(ClientReverseTest, WithoutAServiceNothingIsSaid) {
  start(false);
  call(transport());
  EXPECT_TRUE(listening.answers.empty());
  EXPECT_EQ(client->requester().statistics().discarded, 1U);
}

TEST_F(ClientReverseTest, EveryFormOfChunkGetsErrChunk) {
  start();
  const wire::Segment segment{1, 64, 0};
  std::vector<wire::Header> headers(4, transport());
  headers[0].read_list.push_back({40, segment});
  headers[1].write_list.add({&segment, 1});
  headers[2].has_reply_chunk = true;
  headers[2].reply_chunk.push_back(segment);
  headers[3].proc = wire::Procedure::nomsg;
  headers[3].read_list.push_back({0, segment});
  for (const wire::Header& each : headers) call(each);
  ASSERT_EQ(listening.answers.size(), headers.size());
  for (const Bytes& answer : listening.answers) {
    wire::Header header;
    ASSERT_TRUE(wire::decode(answer, header));
    EXPECT_EQ(header.proc, wire::Procedure::error);
    EXPECT_EQ(header.error, wire::ErrorCode::chunk);
  }
  EXPECT_TRUE(service.calls.empty());
}

TEST_F(ClientReverseTest, ReplyAboveTheThresholdBecomesErrChunk) {
  start();
  service.octets = client->requester().reverse_limits()->reply_bytes;
  call(transport());
  service.octets += 4;
  call(transport());
  ASSERT_EQ(listening.answers.size(), 2U);
  EXPECT_EQ(listening.answers[0].size(), client->requester().negotiated().to_server_bytes);
  wire::Header header;
  ASSERT_TRUE(wire::decode(listening.answers[1], header));
  EXPECT_EQ(header.proc, wire::Procedure::error);
}

TEST_F(ClientReverseTest, CallWhoseXidsDifferIsDiscarded) {
  start();
  call(transport(), kReverseXid + 1);
  EXPECT_TRUE(listening.answers.empty());
  EXPECT_TRUE(service.calls.empty());
}

TEST_F(ClientReverseTest, UnreadAnswersAreLimited) {
  start();
  Bytes octets;
  wire::encode(transport(), octets);
  wire::Writer writer(octets);
  rpc::CallHeader call;
  call.xid = kReverseXid;
  call.encode(writer);
  // The client reads them in one turn, in which no Send of its own completes.
  constexpr std::size_t kCalls = 4 * kMostUnsentAnswers;
  for (std::size_t i = 0; i < kCalls; ++i) ASSERT_TRUE(listening.connection->send(octets));
  null();
  null();
  EXPECT_EQ(client->requester().statistics().reverse_calls, kCalls);
  EXPECT_GE(listening.answers.size(), kMostUnsentAnswers);
  EXPECT_LT(listening.answers.size(), kCalls);
  EXPECT_EQ(client->requester().statistics().connections, 1U);
}

TEST_F(ClientReverseTest, AsManyCallsAsAreGrantedFindReceives) {
  RequesterOptions options;
  options.credits = 1;
  client = std::make_unique<Nfs3Client>(*provider, url, options, 1);
  start();
  Bytes octets;
  wire::encode(transport(), octets);
  wire::Writer writer(octets);
  rpc::CallHeader call;
  call.xid = kReverseXid;
  call.encode(writer);
  for (std::uint32_t i = 0; i < kReverseGrant; ++i) ASSERT_TRUE(listening.connection->send(octets));
  null();
  null();
  EXPECT_EQ(listening.answers.size(), kReverseGrant);
  EXPECT_EQ(client->requester().statistics().connections, 1U);
}

}  // namespace
}  // namespace steertag::peer::testing
