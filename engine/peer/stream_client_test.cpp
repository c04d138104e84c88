// The client over plain TCP: many calls under way, replies in any order, every way to fail.
#include "peer/client/stream_client.h"

#include "peer/stream_fixture.h"
#include "rpc/direction.h"

namespace steertag::peer::testing {
namespace {

class StreamClientTest : public StreamTest {
 protected:
  std::unique_ptr<StreamClient> open(const net::Url& to, const StreamClientOptions& options = {}) {
    auto opened = StreamClient::open(to, options, 0x100, [this] {
      return std::chrono::nanoseconds(now.time_since_epoch()).count();
    });
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(*opened);
  }
  StreamClient::Done note() {
    return [this](const Expected<View, CallError>& reply) {
      if (reply) {
        replies.push_back(copy(*reply));
      } else {
        failures.push_back(reply.error().message());
      }
    };
  }
  /// Drives the client, and the server if there is one, until `done`.
  template <class Done>
  void step(StreamClient& client, Done&& done) {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "nothing happened any more";
      if (server) server->poll(0ms);
      client.poll(1ms);
    }
  }

  std::vector<Bytes> replies;
  std::vector<std::string> failures;
};

/// A server of the test's own: one connection, octets by hand.
class OwnServerTest : public StreamClientTest {
 protected:
  OwnServerTest() {
    listening = *net::listen_at(*net::parse_url("tcp://127.0.0.1:0"));
    at = *net::parse_url("tcp://127.0.0.1:" + std::to_string(net::local_address(listening).port()));
  }
  void take(StreamClient& client) {
    step(client, [&] { return client.up(); });
    net::Address peer;
    accepted = net::accept_from(listening, peer);
    ASSERT_TRUE(accepted.open());
  }
  void send_reply(std::uint32_t xid) {
    Bytes octets;
    rpc::append_record(octets, encoded(rpc::ReplyHeader::accepted(xid, {})));
    ASSERT_EQ(::send(accepted.fd(), octets.data(), octets.size(), 0),
              static_cast<ssize_t>(octets.size()));
  }

  net::Socket listening;
  net::Socket accepted;
  net::Url at;
};

TEST_F(StreamClientTest, CallsAreWrittenTogetherAndAllAnswered) {
  serve_all();
  auto client = open(tcp_url);
  const auto file = make_file("file", {});
  const Bytes data = pattern(kLargestTransfer - 1);
  nfs3::WriteArgs write;
  write.file = file;
  write.count = kLargestTransfer - 1;
  Bytes reduced = rpc_call(0, 7, encoded(write));
  wire::store_u32(reduced.data() + reduced.size() - 4, write.count);
  constexpr std::size_t kCalls = 200;
  for (std::size_t i = 0; i < kCalls; ++i) client->call(rpc_call(0, 0), note());
  client->call(StreamMessage{std::move(reduced), data}, note());
  client->call(rpc_call(0, 6, encoded(nfs3::ReadArgs{file, 0, kLargestTransfer})), note());
  EXPECT_EQ(client->pending(), kCalls + 2);
  step(*client, [&] { return client->pending() == 0; });
  ASSERT_EQ(replies.size(), kCalls + 2);
  EXPECT_TRUE(failures.empty());
  EXPECT_EQ(content("file"), data);
  wire::Reader reader(replies.back());
  rpc::ReplyHeader header;
  header.decode(reader);
  nfs3::ReadResult result;
  result.decode(reader);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(std::ranges::equal(result.ok.data, data));
}

TEST_F(OwnServerTest, RepliesMayComeInAnyOrder) {
  auto client = open(at);
  std::vector<int> order;
  for (int i = 0; i < 3; ++i)
    client->call(rpc_call(0, 0), [&order, i](const auto& reply) {
      EXPECT_TRUE(reply);
      order.push_back(i);
    });
  take(*client);
  for (const std::uint32_t xid : {0x102U, 0x777U, 0x100U, 0x101U}) send_reply(xid);
  step(*client, [&] { return client->pending() == 0; });
  EXPECT_EQ(order, (std::vector<int>{2, 0, 1}));
}

TEST_F(OwnServerTest, TheEndOfTheConnectionFailsEveryCallAndLaterOnes) {
  auto client = open(at);
  client->call(rpc_call(0, 0), note());
  client->call(rpc_call(0, 0), note());
  take(*client);
  accepted.close();
  step(*client, [&] { return failures.size() == 2; });
  EXPECT_TRUE(client->down());
  client->call(rpc_call(0, 0), note());
  EXPECT_EQ(failures.size(), 2U) << "told from inside a call";
  step(*client, [&] { return failures.size() == 3; });
  EXPECT_TRUE(replies.empty());
}

TEST_F(OwnServerTest, ACallHasATimeLimit) {
  auto client = open(at);
  client->call(rpc_call(0, 0), note());
  take(*client);
  now += StreamClientOptions().call_timeout;
  step(*client, [&] { return !failures.empty(); });
  EXPECT_NE(failures[0].find("no reply within 30000 ms"), std::string::npos) << failures[0];
}

TEST_F(OwnServerTest, OneLateReplyDoesNotHideBehindPromptOnes) {
  auto client = open(at);
  client->call(rpc_call(0, 0), note());
  client->call(rpc_call(0, 0), note());
  take(*client);
  send_reply(0x100);
  step(*client, [&] { return replies.size() == 1; });
  now += StreamClientOptions().call_timeout;
  step(*client, [&] { return failures.size() == 1; });
}

TEST_F(OwnServerTest, AnOversizedReplyEndsTheConnection) {
  StreamClientOptions options;
  options.largest_record = 100;
  auto client = open(at, options);
  client->call(rpc_call(0, 0), note());
  take(*client);
  Bytes mark(4);
  wire::store_u32(mark.data(), rpc::record_mark(101, true));
  ASSERT_EQ(::send(accepted.fd(), mark.data(), mark.size(), 0), 4);
  step(*client, [&] { return !failures.empty(); });
  EXPECT_NE(failures[0].find("record marking"), std::string::npos) << failures[0];
}

TEST_F(OwnServerTest, NobodyThereIsAFailureOfTheCall) {
  listening.close();
  auto client = open(at);
  client->call(rpc_call(0, 0), note());
  step(*client, [&] { return !failures.empty(); });
  EXPECT_NE(failures[0].find("127.0.0.1:" + std::to_string(at.port)), std::string::npos)
      << failures[0];
}

TEST_F(OwnServerTest, CallsOfTheServerAreAnswered) {
  auto client = open(at);
  client->set_server_call(
      [&](View call) { client->reply(encoded(rpc::ReplyHeader::accepted(*rpc::xid(call), {}))); });
  take(*client);
  Bytes octets;
  rpc::append_record(octets, rpc_call(5, 1));
  ASSERT_GT(::send(accepted.fd(), octets.data(), octets.size(), 0), 0);
  std::array<std::byte, 64> answer;
  ssize_t count = 0;
  step(*client, [&] {
    count = ::recv(accepted.fd(), answer.data(), answer.size(), MSG_DONTWAIT);
    return count > 0;
  });
  ASSERT_EQ(count, 28);
  EXPECT_EQ(wire::load_u32(answer.data() + 4), 5U);
}

}  // namespace
}  // namespace steertag::peer::testing
