// The reverse direction over RDMA (RFC 8167): the server calls on its client's connection.
#include <algorithm>

#include "rpc/direction.h"
#include "rpc/message.h"
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kProgram = 0x20000001;

/// A program that calls its caller back.
class CallingBack final : public Program {
 public:
  explicit CallingBack(std::vector<std::string>& outcomes) : outcomes_(outcomes) {}
  std::uint32_t number() const override { return kProgram; }
  std::uint32_t version() const override { return 1; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader&, const CallContext& context,
                         ReplyPayload&) override {
    const auto back = context.connection.backchannel.lock();
    for (std::uint32_t i = 0; i < procedure; ++i) {
      Bytes message;
      wire::Writer writer(message);
      rpc::CallHeader header;
      header.program = kProgram + 1;
      header.version = 1;
      header.encode(writer);
      back->call(message, [this](const Expected<View, net::Error>& reply) {
        outcomes_.push_back(reply ? "reply of " + std::to_string(reply->size())
                                  : reply.error().message());
      });
    }
    return rpc::AcceptStatus::SUCCESS;
  }

 private:
  std::vector<std::string>& outcomes_;
};

/// Withholds the first callback, and changes the procedure of the others.
class SecondOnly final : public Interposer {
 public:
  void on_callback(CallbackStep& callback) override {
    EXPECT_TRUE(callback.rdma);
    callback.withheld = ++seen_ == 1;
    wire::store_u32(callback.message.data() + kProcedureAt, 9);
  }

 private:
  static constexpr std::size_t kProcedureAt = 20;
  int seen_ = 0;
};

class ReverseDirectionTest : public PeerTest {
 protected:
  void SetUp() override { start(nullptr); }
  void start(std::shared_ptr<Interposer> interposer) {
    TearDown();
    ServerOptions options;
    options.interposer = std::move(interposer);
    options.clock = [this] { return now; };
    std::vector<std::unique_ptr<Program>> programs;
    programs.push_back(std::make_unique<CallingBack>(outcomes));
    auto started = Server::start(*provider, *fabric::parse_url("iwarp://127.0.0.1:0"),
                                 std::move(programs), options);
    ASSERT_TRUE(started) << started.error().message();
    server = std::move(*started);
    url = *fabric::parse_url("iwarp://127.0.0.1:" + std::to_string(server->port()));
    domain = provider->make_domain();
    client = std::make_unique<RawClient>(*provider, *domain, url, Bytes());
    drive([&] { return client->up; });
  }

  /// The server tells the outcome of callbacks to the members below.
  void TearDown() override {
    client.reset();
    server.reset();
  }

  /// A call of the program, which makes it call back `times` times.
  void call(std::uint32_t xid, std::uint32_t times) {
    Bytes octets = transport(xid, 8);
    wire::Writer writer(octets);
    rpc::CallHeader header;
    header.xid = xid;
    header.program = kProgram;
    header.version = 1;
    header.procedure = times;
    header.encode(writer);
    client->send(octets);
  }
  static Bytes transport(std::uint32_t xid, std::uint32_t credit) {
    wire::Header header;
    header.xid = xid;
    header.vers = wire::kVersion;
    header.credit = credit;
    header.proc = wire::Procedure::msg;
    Bytes octets;
    wire::encode(header, octets);
    return octets;
  }
  void reply(std::uint32_t xid, std::uint32_t grant) {
    Bytes octets = transport(xid, grant);
    wire::Writer writer(octets);
    rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::SUCCESS).encode(writer);
    client->send(octets);
  }
  /// XIDs of the server's calls so far.
  std::vector<std::uint32_t> callbacks() const {
    std::vector<std::uint32_t> xids;
    for (const Received& message : client->received) {
      if (rpc::direction(View(message.octets).subspan(28)) == rpc::MessageType::CALL)
        xids.push_back(wire::load_u32(message.octets.data()));
    }
    return xids;
  }

  std::chrono::steady_clock::time_point now{};
  std::vector<std::string> outcomes;
  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<RawClient> client;
};

TEST_F(ReverseDirectionTest, EqualXidsInBothDirectionsDoNotMeet) {
  call(1, 1);
  drive([&] { return client->received.size() == 2; });
  ASSERT_EQ(callbacks(), (std::vector<std::uint32_t>{1}));
  call(1, 0);  // a second call with the XID that the callback has
  reply(1, 1);
  drive([&] { return client->received.size() == 3 && !outcomes.empty(); });
  EXPECT_EQ(outcomes, (std::vector<std::string>{"reply of 24"}));
}

TEST_F(ReverseDirectionTest, OneCallUntilTheClientGrantsMore) {
  call(9, 4);
  drive([&] { return client->received.size() == 2; });
  EXPECT_EQ(callbacks().size(), 1U) << "RFC 8167 4.1: one credit until a reply grants more";
  reply(1, 3);
  drive([&] { return callbacks().size() == 4; });
  for (const std::uint32_t xid : {2U, 3U, 4U}) reply(xid, 3);
  drive([&] { return outcomes.size() == 4; });
}

TEST_F(ReverseDirectionTest, TheCallbackAsksForCreditsOfItsOwn) {
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  for (const Received& message : client->received) {
    if (rpc::direction(View(message.octets).subspan(28)) != rpc::MessageType::CALL) continue;
    EXPECT_EQ(wire::load_u32(message.octets.data() + 8), kReverseCredits);
  }
}

TEST_F(ReverseDirectionTest, AnRdmaErrorEndsTheCallback) {
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  wire::Header error;
  error.xid = 1;
  error.vers = wire::kVersion;
  error.credit = 1;
  error.proc = wire::Procedure::error;
  error.error = wire::ErrorCode::chunk;
  Bytes octets;
  wire::encode(error, octets);
  client->send(octets);
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0],
            "the peer broke a rule of the RDMA layers: the client answered with RDMA_ERROR");
  call(10, 0);
  drive([&] { return client->received.size() == 3; });
}

TEST_F(ReverseDirectionTest, TheEndOfTheConnectionEndsTheCallback) {
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  client.reset();
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0],
            "the connection is not established: the connection ended before its reply");
}

TEST_F(ReverseDirectionTest, AnInterposerMayChangeOrWithholdIt) {
  start(std::make_shared<SecondOnly>());
  call(9, 1);
  drive([&] { return client->received.size() == 1; });
  EXPECT_TRUE(callbacks().empty());
  now += kCallbackTimeout;
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0], "a time limit passed: no reply to a callback") << "it counts as sent";
  call(10, 1);
  drive([&] { return client->received.size() == 3; });
  ASSERT_EQ(callbacks(), (std::vector<std::uint32_t>{2}));
  const auto callback = std::ranges::find(client->received, 2U, [](const Received& each) {
    return wire::load_u32(each.octets.data());
  });
  rpc::CallHeader header;
  wire::Reader reader(View(callback->octets).subspan(28));
  header.decode(reader);
  EXPECT_EQ(header.procedure, 9U);
}

TEST_F(ReverseDirectionTest, SilenceOfTheClientHasALimit) {
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  now += kCallbackTimeout;
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0], "a time limit passed: no reply to a callback");
}

TEST_F(ReverseDirectionTest, ReplyWhoseXidsDifferIsDiscardedAndNotAnswered) {
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  Bytes octets = transport(1, 1);
  wire::Writer writer(octets);
  rpc::ReplyHeader::accepted(2, rpc::AcceptStatus::SUCCESS).encode(writer);
  client->send(octets);
  call(10, 0);
  drive([&] { return client->received.size() == 3; });
  EXPECT_EQ(server->statistics().discarded, 1U);
  EXPECT_EQ(server->statistics().errors, 0U)
      << "RFC 8167 2.4.1: an error would be taken for the answer to a forward call with its XID";
  EXPECT_TRUE(outcomes.empty()) << "the callback still waits for its reply";
}

TEST_F(ReverseDirectionTest, UnmatchedRepliesAreDiscarded) {
  reply(77, 1);
  call(9, 1);
  drive([&] { return callbacks().size() == 1; });
  EXPECT_EQ(server->statistics().discarded, 1U);
}

}  // namespace
}  // namespace steertag::peer::testing
