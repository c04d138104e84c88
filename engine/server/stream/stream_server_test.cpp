// The server over plain TCP: records however they are cut, many calls at a time, limits, callbacks.
#include <deque>

#include "net/testing/descriptors.h"
#include "rpc/direction.h"
#include "server/testing/stream_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kRead = 6;
constexpr std::uint32_t kWrite = 7;

std::vector<std::uint32_t> xids(const std::vector<Bytes>& records) {
  std::vector<std::uint32_t> found;
  for (const Bytes& record : records) found.push_back(rpc::xid(record).value_or(0));
  return found;
}

rpc::ReplyHeader header_of(View reply) {
  wire::Reader reader(reply);
  rpc::ReplyHeader header;
  header.decode(reader);
  EXPECT_TRUE(reader.ok());
  return header;
}

TEST_F(StreamServerTest, RecordsMayBeCutAtEveryOctet) {
  serve_all();
  Bytes octets;
  rpc::append_record(octets, null_call(1));
  rpc::append_record(octets, null_call(2));
  for (std::size_t cut = 1; cut < octets.size(); ++cut) {
    RawStream client(tcp_url);
    client.send(View(octets).first(cut));
    // The server has read the first part before the second one is sent.
    pump({&client}, [&] { return client.all_sent(); });
    server->poll(0ms);
    client.send(View(octets).subspan(cut));
    pump({&client}, [&] { return client.records.size() == 2; });
    ASSERT_EQ(xids(client.records), (std::vector<std::uint32_t>{1, 2})) << "cut at " << cut;
  }
}

TEST_F(StreamServerTest, FragmentsOfEverySizeMakeOneCall) {
  serve_all();
  RawStream client(tcp_url);
  const Bytes call = null_call(7);
  for (std::size_t size = 1; size <= call.size(); ++size) client.send_record(call, size);
  pump({&client}, [&] { return client.records.size() == call.size(); });
  for (const Bytes& reply : client.records) EXPECT_TRUE(header_of(reply).success());
}

TEST_F(StreamServerTest, EmptyFragmentsHaveALimit) {
  serve_all();
  RawStream client(tcp_url);
  client.send(Bytes(4 * (rpc::kMostFragments + 1)));
  pump({&client}, [&] { return client.closed; });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(
      troubles[0],
      "the peer broke a rule of RPC over TCP (RFC 5531): record marking: offset 4096, fragments of "
      "a record: the list is longer than the decoder's limit");
  expect_others_are_served();
}

TEST_F(StreamServerTest, RecordsAboveTheLargestCallEndTheConnection) {
  serve_all();
  RawStream client(tcp_url);
  Bytes mark(4);
  wire::store_u32(mark.data(), rpc::record_mark(kLargestStreamRecord + 1, true));
  client.send(mark);
  pump({&client}, [&] { return client.closed; });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0],
            "the peer broke a rule of RPC over TCP (RFC 5531): record marking: offset 0, fragment "
            "length: the count is larger than the message or the limit allows");
  EXPECT_EQ(server->statistics().dropped_connections, 1U);
  expect_others_are_served();
}

TEST_F(StreamServerTest, RecordsThatAreNoMessagesEndTheConnection) {
  serve_all();
  for (const std::size_t size : {0U, 4U, 40U}) {
    RawStream client(tcp_url);
    client.send_record(Bytes(size, std::byte{0xee}));
    pump({&client}, [&] { return client.closed; });
    EXPECT_TRUE(client.records.empty()) << "of " << size << " octets";
    ASSERT_EQ(troubles.size(), 1U) << "of " << size << " octets";
    EXPECT_EQ(
        troubles[0],
        "the peer broke a rule of RPC over TCP (RFC 5531): a record is neither an RPC call nor "
        "a reply");
    troubles.clear();
  }
  expect_others_are_served();
}

TEST_F(StreamServerTest, ManyCallsMayBeUnderWay) {
  serve_all();
  RawStream client(tcp_url);
  std::vector<std::uint32_t> sent;
  for (std::uint32_t xid = 1; xid <= 3 * kMostQueuedMessages; ++xid) {
    client.send_record(null_call(xid));
    sent.push_back(xid);
  }
  pump({&client}, [&] { return client.records.size() == sent.size(); });
  EXPECT_EQ(xids(client.records), sent);
}

TEST_F(StreamServerTest, OthersHaveTheirTurnHoweverMuchOneHasSent) {
  ServerOptions options;
  options.time_slice = 0ms;  // a turn is one call then
  serve_all(options);
  RawStream busy(tcp_url), other(tcp_url);
  pump({&busy, &other}, [&] { return server->connection_count() == 2; });
  constexpr std::uint32_t kCalls = 100;
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) busy.send_record(null_call(xid));
  other.send_record(null_call(1000));
  pump({&busy, &other}, [&] { return !other.records.empty(); });
  EXPECT_LT(busy.records.size(), kCalls / 2) << "the other call waited for those that came before";
  pump({&busy}, [&] { return busy.records.size() == kCalls; });
  EXPECT_EQ(xids(busy.records).back(), kCalls) << "a call was lost when a turn was over";
}

TEST_F(StreamServerTest, TheHalfThatIsClosedIsNotTheOtherHalf) {
  serve_all();
  RawStream client(tcp_url);
  client.send_record(null_call(1));
  client.send_record(null_call(2));
  client.pump();
  client.socket.end();
  pump({&client}, [&] { return client.closed; });
  EXPECT_EQ(client.records.size(), 2U) << "what was asked for before the end is answered";
  EXPECT_TRUE(troubles.empty());
  EXPECT_EQ(server->connection_count(), 0U);
}

TEST_F(StreamServerTest, TheEndInsideARecordIsTrouble) {
  serve_all();
  RawStream client(tcp_url);
  Bytes octets;
  rpc::append_record(octets, null_call(1));
  client.send(View(octets).first(10));
  client.pump();
  client.socket.end();
  pump({&client}, [&] { return client.closed; });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_NE(troubles[0].find("inside a record"), std::string::npos) << troubles[0];
}

TEST_F(StreamServerTest, SilenceInMidRecordHasALimit) {
  serve_all();
  RawStream client(tcp_url);
  client.send(Bytes(3));
  pump({&client}, [&] { return client.all_sent() && server->connection_count() == 1; });
  server->poll(0ms);
  now += StreamTimeouts().mid_record - 1ms;
  server->poll(0ms);
  EXPECT_EQ(server->connection_count(), 1U);
  now += 1ms;
  pump({&client}, [&] { return client.closed; });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0], "a time limit passed: silence in mid-record for 5000 ms");
}

TEST_F(StreamServerTest, ARecordMustBeWholeInTime) {
  serve_all();
  RawStream client(tcp_url);
  Bytes octets;
  rpc::append_record(octets, null_call(1));
  for (std::size_t i = 0; !client.closed && i + 1 < octets.size(); ++i) {
    client.send(View(octets).subspan(i, 1));
    now += 1s;  // never silent for long
    const std::size_t before = troubles.size();
    for (int round = 0; round < 3; ++round) client.pump(), server->poll(0ms);
    if (troubles.size() > before) break;
  }
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0], "a time limit passed: a record was not whole within 30000 ms");
}

TEST_F(StreamServerTest, IdleConnectionsHaveALimit) {
  serve_all();
  RawStream client(tcp_url);
  client.send_record(null_call(1));
  pump({&client}, [&] { return client.records.size() == 1; });
  now += kIdleTimeout;
  pump({&client}, [&] { return client.closed; });
  EXPECT_EQ(server->connection_count(), 0U);
}

TEST_F(StreamServerTest, WhoTakesNoRepliesHoldsTheBudgetAndThenLosesTheConnection) {
  ServerOptions options;
  options.reply_budget_bytes = std::size_t{16} << 20;
  options.time_slice = 1h;
  serve_all(options);
  const Bytes data = pattern(kLargestTransfer);
  const auto file = make_file("large", data);
  RawStream client(tcp_url);
  client.reads = false;
  const nfs3::ReadArgs args{file, 0, kLargestTransfer};
  constexpr std::size_t kCalls = 64;
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid)
    client.send_record(rpc_call(xid, kRead, encoded(args)));
  const std::size_t share = options.reply_budget_bytes / kReplyShares;
  pump({&client}, [&] { return server->replies().held_bytes() >= share; });
  for (int i = 0; i < 100; ++i) server->poll(0ms);
  // What the sockets take, one share, and the reply that goes beyond it.
  EXPECT_LE(server->replies().held_bytes(), share + 2 * kLargestTransfer);
  EXPECT_LT(server->statistics().replies, kCalls);
  expect_others_are_served();

  // The sockets may take a little more yet, after which the time begins anew.
  drive([&] {
    now += 1s;
    return server->connection_count() < 2 && !troubles.empty();
  });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0], "a time limit passed: replies were not taken for 15000 ms");
  EXPECT_EQ(server->replies().held_bytes(), 0U);
}

TEST_F(StreamServerTest, WhoTakesNoRepliesLosesTheConnectionAlsoBetweenTurns) {
  ServerOptions options;
  options.time_slice = 0ms;  // a turn has one call
  serve_all(options);
  const auto file = make_file("large", pattern(kLargestTransfer));
  RawStream client(tcp_url);
  client.reads = false;
  const nfs3::ReadArgs args{file, 0, kLargestTransfer};
  for (std::uint32_t xid = 1; xid <= 64; ++xid)
    client.send_record(rpc_call(xid, kRead, encoded(args)));
  pump({&client}, [&] { return client.arrived(); });
  drive([&] {
    now += 1s;
    return !troubles.empty();
  });
  ASSERT_FALSE(troubles.empty());
  EXPECT_EQ(troubles[0], "a time limit passed: replies were not taken for 15000 ms");
}

TEST_F(StreamServerTest, ASlowReaderGetsEveryOctet) {
  serve_all();
  const Bytes data = pattern(kLargestTransfer);
  const auto file = make_file("large", data);
  RawStream client(tcp_url);
  client.reads = false;
  constexpr std::size_t kCalls = 24;
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid)
    client.send_record(rpc_call(xid, kRead, encoded(nfs3::ReadArgs{file, xid, kLargestTransfer})));
  client.pump();
  for (int i = 0; i < 100; ++i) server->poll(0ms);
  ASSERT_LT(server->statistics().replies, kCalls) << "nothing was held back";
  client.reads = true;
  pump({&client}, [&] { return client.records.size() == kCalls; });
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) {
    wire::Reader reader(client.records[xid - 1]);
    rpc::ReplyHeader header;
    header.decode(reader);
    nfs3::ReadResult result;
    result.decode(reader);
    ASSERT_TRUE(reader.ok()) << reader.fault().message();
    ASSERT_TRUE(std::ranges::equal(result.ok.data, View(data).subspan(xid))) << "reply " << xid;
  }
}

TEST_F(StreamServerTest, ConnectionsHaveALimitOverAllTransports) {
  ServerOptions options;
  options.most_connections = 2;
  serve_all(options);
  auto over_rdma = connect();
  RawStream first(tcp_url);
  first.send_record(null_call(1));
  pump({&first}, [&] { return first.records.size() == 1; });
  RawStream second(tcp_url);
  pump({&second}, [&] { return second.closed; });
  ASSERT_EQ(troubles.size(), 1U);
  EXPECT_EQ(troubles[0],
            "too many connections are open: all sources have 2, as many as they may have together");
}

TEST_F(StreamServerTest, OneSourceLeavesConnectionsToOthersOverAllTransports) {
  ServerOptions options;
  options.most_connections = 4;
  options.most_connections_of_source = 2;
  serve_all(options);
  std::deque<RawStream> crowd;
  const auto crowd_grows = [&] {
    crowd.emplace_back(tcp_url, "127.0.0.2").send_record(null_call(1));
    pump({&crowd.back()}, [&] { return crowd.back().closed || !crowd.back().records.empty(); });
    return !crowd.back().closed;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(crowd_grows(), i < 2) << "the source has its share";
  ASSERT_EQ(troubles.size(), 1U) << "one line for each burst";
  EXPECT_EQ(troubles[0],
            "too many connections are open: 127.0.0.2 has 2, as many as one source may have");
  auto over_rdma = connect();  // from 127.0.0.1
  EXPECT_TRUE(over_rdma->call<nfs3::Void>(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}));
  RawStream good(tcp_url);
  good.send_record(null_call(1));
  pump({&good}, [&] { return good.records.size() == 1; });
  RawStream third(tcp_url);
  pump({&third}, [&] { return third.closed; });
  ASSERT_EQ(troubles.size(), 2U) << "connections over RDMA count too";
  EXPECT_TRUE(troubles[1].find("127.0.0.1 has 2") != std::string::npos) << troubles[1];
  EXPECT_EQ(server->connection_count(), 4U);
  crowd.clear();
  drive([&] { return server->connection_count() == 2; });
  EXPECT_TRUE(crowd_grows()) << "what has ended still counts";
}

TEST_F(StreamServerTest, LackOfDescriptorsIsCalledSo) {
  serve_all();
  RawStream rehearsal(tcp_url);  // see NoFurtherDescriptors; its end is not rehearsed, so it stays
  rehearsal.send_record(null_call(99));
  pump({&rehearsal}, [&] { return rehearsal.records.size() == 1; });
  RawStream client(tcp_url);
  {
    const net::testing::NoFurtherDescriptors none;
    drive([&] { return !troubles.empty(); });
  }
  EXPECT_EQ(troubles[0],
            "there are no free file descriptors (ulimit -n): accept: Too many open files");
  client.send_record(null_call(1));
  now += net::kAcceptPause;
  pump({&client}, [&] { return client.records.size() == 1; });
}

TEST_F(StreamServerTest, BothTransportsSeeEachOthersWrites) {
  serve_all();
  const auto file = make_file("shared", {});
  auto over_rdma = connect();
  RawStream over_tcp(tcp_url);
  const Bytes data = pattern(5001);
  nfs3::WriteArgs write;
  write.file = file;
  write.count = 5001;
  write.data = data;
  over_tcp.send_record(rpc_call(1, kWrite, encoded(write)));
  pump({&over_tcp}, [&] { return over_tcp.records.size() == 1; });
  nfs3::ReadResult read;
  bool done = false;
  auto submitted = over_rdma->requester().submit(
      over_rdma->request(nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, 5001}),
      [&](const Expected<CallReply, CallError>& reply) {
        ASSERT_TRUE(reply) << reply.error().message();
        done = true;
        if (reply->item_reduced) {
          EXPECT_TRUE(std::ranges::equal(reply->item, data));
          return;
        }
        wire::Reader reader(reply->results);
        read.decode(reader);
        EXPECT_TRUE(std::ranges::equal(read.ok.data, data));
      });
  ASSERT_TRUE(submitted);
  drive([&] { return done; }, &over_rdma->requester());
  EXPECT_EQ(server->statistics().connections, 2U);
}

TEST_F(StreamServerTest, ASecondListenerThatFailsLeavesNothingOpen) {
  serve_all();
  net::Url free = *net::parse_url("tcp://127.0.0.1:0");
  {
    const std::array one{ListenAddress{free}};
    const auto probe = Server::start(one, all_programs(ServerOptions().clock), {});
    free.port = (*probe)->port();
  }
  const std::array addresses{ListenAddress{free}, ListenAddress{tcp_url}};  // the second is in use
  const auto started = Server::start(addresses, all_programs(ServerOptions().clock), {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, net::Errc::cannot_listen);
  EXPECT_NE(started.error().message().find(std::to_string(tcp_url.port)), std::string::npos);
  const std::array again{ListenAddress{free}};
  const auto second = Server::start(again, all_programs(ServerOptions().clock), {});
  EXPECT_TRUE(second) << "the first port is still taken: " << second.error().message();
}

/// Has another procedure called than the client asks for.
class OtherProcedure final : public Interposer {
 public:
  void on_call(CallStep& step) override { step.instead = rpc_call(7, 9); }
  void on_reply(ReplyStep& reply) override { call.assign(reply.call.begin(), reply.call.end()); }
  Bytes call;
};

TEST_F(StreamServerTest, AReplyIsShownWithTheCallOfTheClient) {
  const auto watcher = std::make_shared<OtherProcedure>();
  ServerOptions options;
  options.interposer = watcher;
  serve_all(options);
  RawStream client(tcp_url);
  client.send_record(rpc_call(7, 0));
  pump({&client}, [&] { return client.records.size() == 1; });
  EXPECT_EQ(watcher->call, rpc_call(7, 0));
}

/// A program that calls its caller back.
class CallingBack final : public Program {
 public:
  explicit CallingBack(std::vector<std::string>& outcomes) : outcomes_(outcomes) {}
  std::uint32_t number() const override { return nfs3::kProgram; }
  std::uint32_t version() const override { return 3; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader&, const CallContext& context,
                         ReplyPayload&) override {
    EXPECT_FALSE(context.connection.rdma);
    for (std::uint32_t i = 0; i < procedure; ++i) {
      context.connection.backchannel.lock()->call(
          rpc_call(0, 1), [this](const Expected<View, net::Error>& reply) {
            outcomes_.push_back(reply ? "reply of " + std::to_string(reply->size())
                                      : reply.error().message());
          });
    }
    return rpc::AcceptStatus::SUCCESS;
  }

 private:
  std::vector<std::string>& outcomes_;
};

/// Withholds the first callback.
class SecondOnly final : public Interposer {
 public:
  void on_callback(CallbackStep& callback) override {
    EXPECT_FALSE(callback.rdma);
    callback.withheld = ++seen_ == 1;
  }

 private:
  int seen_ = 0;
};

class StreamCallbackTest : public StreamServerTest {
 protected:
  void SetUp() override { start({}); }
  void start(ServerOptions options) {
    std::vector<std::unique_ptr<Program>> programs;
    programs.push_back(std::make_unique<CallingBack>(outcomes));
    serve_all(std::move(options), std::move(programs));
    client = std::make_unique<RawStream>(tcp_url);
  }
  /// The server tells the outcome of callbacks to the members below.
  void TearDown() override { server.reset(); }
  std::vector<std::uint32_t> callbacks() const {
    std::vector<std::uint32_t> found;
    for (const Bytes& record : client->records) {
      if (rpc::direction(record) == rpc::MessageType::CALL) found.push_back(*rpc::xid(record));
    }
    return found;
  }
  void reply(std::uint32_t xid) {
    client->send_record(encoded(rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::SUCCESS)));
  }
  std::vector<std::string> outcomes;
  std::unique_ptr<RawStream> client;
};

TEST_F(StreamCallbackTest, EqualXidsInBothDirectionsDoNotMeet) {
  client->send_record(rpc_call(1, 2));
  pump({client.get()}, [&] { return client->records.size() == 3; });
  ASSERT_EQ(callbacks(), (std::vector<std::uint32_t>{1, 2}));
  client->send_record(rpc_call(1, 0));
  reply(2);
  reply(1);
  reply(77);  // no call waits for it
  pump({client.get()}, [&] { return client->records.size() == 4 && outcomes.size() == 2; });
  EXPECT_EQ(outcomes[0], "reply of 24");
  EXPECT_EQ(server->statistics().discarded, 1U);
}

TEST_F(StreamCallbackTest, AnInterposerMayWithholdIt) {
  ServerOptions options;
  options.interposer = std::make_shared<SecondOnly>();
  start(std::move(options));
  client->send_record(rpc_call(1, 2));
  pump({client.get()}, [&] { return client->records.size() == 2; });
  EXPECT_EQ(callbacks(), (std::vector<std::uint32_t>{2}));
}

TEST_F(StreamCallbackTest, SilenceOfTheClientHasALimit) {
  client->send_record(rpc_call(1, 1));
  pump({client.get()}, [&] { return callbacks().size() == 1; });
  now += kCallbackTimeout;
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0], "a time limit passed: no reply to a callback");
}

TEST_F(StreamCallbackTest, TheEndOfTheConnectionEndsTheCallback) {
  client->send_record(rpc_call(1, 1));
  pump({client.get()}, [&] { return callbacks().size() == 1; });
  client->socket.reset();
  drive([&] { return !outcomes.empty(); });
  EXPECT_EQ(outcomes[0],
            "the connection is not established: the connection ended before its reply");
}

}  // namespace
}  // namespace steertag::peer::testing
