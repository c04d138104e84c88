// The interposer: what it sees of a conforming server.
// Also what the client gets when the interposer posts something else.
#include "server/interposer.h"

#include <functional>

#include "fabric/testing/provider_suite.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// Counts what it sees, and hands departures to `interpose`.
class Watcher final : public Interposer {
 public:
  void on_request(View private_data, AcceptStep& step) override {
    ++requests;
    client_data.assign(private_data.begin(), private_data.end());
    if (requests <= drops) step.answer = AcceptStep::Answer::drop;
  }
  void on_accepted(const std::shared_ptr<InterposedConnection>& connection) override {
    connections.push_back(connection);
  }
  void on_arrival(const std::shared_ptr<InterposedConnection>&, Arrival&) override { ++arrivals; }
  bool on_departure(const std::shared_ptr<InterposedConnection>& connection,
                    const Departure& departure) override {
    ++departures;
    return interpose && interpose(*connection, departure);
  }
  void on_read(const std::shared_ptr<InterposedConnection>&, std::uint64_t, View octets) override {
    read.assign(octets.begin(), octets.end());
    ++reads;
  }
  void on_down(const std::shared_ptr<InterposedConnection>&,
               const fabric::CloseReason& reason) override {
    ends.push_back(reason);
  }

  int requests = 0;
  int drops = 0;
  int arrivals = 0;
  int departures = 0;
  int reads = 0;
  Bytes client_data;
  Bytes read;
  std::vector<std::shared_ptr<InterposedConnection>> connections;
  std::vector<fabric::CloseReason> ends;
  std::function<bool(InterposedConnection&, const Departure&)> interpose;
};

Bytes message_of(const Departure& departure) {
  Bytes message;
  for (const View part : departure.parts) message.insert(message.end(), part.begin(), part.end());
  return message;
}

class InterposerTest : public PeerTest {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.interposer = std::shared_ptr<Interposer>(std::shared_ptr<void>(), &watcher);
    serve(options);
  }

  Watcher watcher;
};

TEST_F(InterposerTest, SeesEverythingOfAConformingServer) {
  auto client = connect();
  EXPECT_EQ(watcher.requests, 1);
  EXPECT_EQ(watcher.arrivals, 1);
  EXPECT_EQ(watcher.departures, 1);
  EXPECT_TRUE(wire::find_private_data(watcher.client_data));
  ASSERT_EQ(watcher.connections.size(), 1U);
  EXPECT_TRUE(watcher.connections.front()->up());
}

TEST_F(InterposerTest, WhatItTakesIsNotPosted) {
  watcher.interpose = [](InterposedConnection& connection, const Departure& departure) {
    EXPECT_EQ(departure.kind, Departure::Kind::reply);
    EXPECT_EQ(departure.call->xid, wire::load_u32(departure.rpc_call.data()));
    Bytes wrong = message_of(departure);
    wire::store_u32(wrong.data() + 4, 9);  // rdma_vers
    EXPECT_TRUE(connection.send(wrong));
    EXPECT_TRUE(connection.send(message_of(departure)));
    return true;
  };
  auto client = connect();
  EXPECT_EQ(client->requester().statistics().discarded, 1U);
  EXPECT_EQ(client->requester().statistics().replies, 1U);
}

TEST_F(InterposerTest, DroppedRequestsFailTheClient) {
  watcher.drops = 100;
  Nfs3Client client(*provider, url, RequesterOptions{}, next_xid);
  const auto mounted = client.mount("/export");
  ASSERT_FALSE(mounted);
  EXPECT_EQ(mounted.error().code, CallErrc::connection_lost) << mounted.error().message();
  EXPECT_TRUE(watcher.connections.empty());
}

TEST_F(InterposerTest, LineOutlivesItsConnection) {
  auto client = connect();
  const auto connection = watcher.connections.front();
  server.reset();
  EXPECT_FALSE(connection->up());
  EXPECT_EQ(connection->send(Bytes(4)).error().code, fabric::Errc::not_connected);
  EXPECT_EQ(connection->read(1, 0, 4).error().code, fabric::Errc::not_connected);
}

/// What an interposer does to the client's memory by itself is no call's fault.
class OwnOperations : public InterposerTest,
                      public ::testing::WithParamInterface<fabric::testing::Factory> {
 protected:
  OwnOperations() {
    provider = GetParam().make({}, {});
    origin = GetParam().name + "://" + GetParam().host;
  }
};

TEST_P(OwnOperations, OnesThatMemoryDeniesFailNoCall) {
  constexpr std::uint32_t kOctets = 5000;
  int replies = 0;
  watcher.interpose = [&](InterposedConnection& connection, const Departure& departure) {
    if (departure.writes.empty() || replies++ > 0) return false;
    EXPECT_TRUE(connection.write(pattern(8), 0xdeadbeef, 0));
    return true;
  };
  auto client = connect();
  FormWish wish;
  wish.write_chunk = Use::always;
  client->set_wish(wish);
  const Bytes data = pattern(kOctets);
  const auto read = client->call<nfs3::ReadResult>(
      nfs3::Procedure::NFSPROC3_READ, nfs3::ReadArgs{make_file("file", data), 0, kOctets});
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(copy(read->ok.data), data);
  EXPECT_EQ(replies, 2) << "the call was not sent again";
  ASSERT_EQ(watcher.ends.size(), 1U);
  if (provider->capabilities().sees_violations) {
    EXPECT_TRUE(watcher.ends.front().denied) << "the end names no Write";
  }
}

STEERTAG_OVER_PROVIDERS(OwnOperations);

/// RFC 8166 8.1: the client's memory is open as far as its segments go, and no further, although it
/// comes from a pool of larger regions.
class OfferedMemory : public InterposerTest, public ::testing::WithParamInterface<bool> {};

TEST_P(OfferedMemory, EndsWithItsSegment) {
  const bool inside = GetParam();
  constexpr std::size_t kOctets = 5000;
  constexpr std::uint32_t kRead = 8;
  const Bytes data = pattern(kOctets);
  bool held = false;
  watcher.interpose = [&](InterposedConnection& connection, const Departure& departure) {
    if (departure.call->read_list.empty() || held) return false;
    held = true;  // the reply: it would end the call, and close the memory
    const wire::Segment source = departure.call->read_list.front().target;
    EXPECT_EQ(source.length, kOctets);
    EXPECT_TRUE(connection.read(source.handle, source.offset + (inside ? 0 : kOctets), kRead));
    return true;
  };
  auto client = connect();
  nfs3::WriteArgs args;
  args.file = make_file("file", {});
  args.count = kOctets;
  args.data = data;
  bool ended = false;
  Requester& requester = client->requester();
  ASSERT_TRUE(requester.submit(client->request(nfs3::Procedure::NFSPROC3_WRITE, args),
                               [&](auto&&) { ended = true; }));
  drive([&] { return watcher.reads > 0 || !watcher.ends.empty() || ended; }, &requester);
  if (inside) {
    EXPECT_EQ(watcher.read, Bytes(data.begin(), data.begin() + kRead));
  } else {
    EXPECT_EQ(watcher.reads, 0) << "octets behind the read chunk came";
    ASSERT_FALSE(watcher.ends.empty()) << "the connection goes on";
    EXPECT_TRUE(watcher.ends.front().terminate_from_peer);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, OfferedMemory, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "Inside" : "Behind"; });

}  // namespace
}  // namespace steertag::peer::testing
