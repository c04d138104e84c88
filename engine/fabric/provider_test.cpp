// Every provider through the fabric interface: startup, messages, memory, completion and ends.
//
// A provider joins the suite by a line at the end.
#include <gtest/gtest.h>

#include <array>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

class ProviderTest : public ProviderSuite {
 protected:
  void expect_private_data(const Bytes& got, const Bytes& sent) const {
    Bytes expected = sent;
    if (!can().exact_private_data) {
      ASSERT_GE(got.size(), sent.size());
      expected.resize(got.size());
    }
    EXPECT_EQ(got, expected);
  }
};

TEST_P(ProviderTest, EstablishesAndExchangesPrivateData) {
  pair.client_options.private_data = octets("from the client");
  pair.server_options.private_data = octets("from the server");
  up();
  expect_private_data(pair.server_notices.peer_private_data, octets("from the client"));
  expect_private_data(pair.client_notices.peer_private_data, octets("from the server"));
  EXPECT_EQ(pair.client->role(), trace::Role::client);
  EXPECT_EQ(pair.server->role(), trace::Role::server);
  EXPECT_TRUE(pair.client->established());
}

TEST_P(ProviderTest, RejectCarriesPrivateData) {
  pair.answer = [this](std::unique_ptr<ConnectionRequest> request) {
    expect_private_data({request->private_data().begin(), request->private_data().end()}, {});
    request->reject(View(octets("no")));
  };
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.client_notices.refused);
  EXPECT_EQ(pair.client_notices.refused->code, Errc::rejected);
  expect_private_data(pair.client_notices.peer_private_data, octets("no"));
}

TEST_P(ProviderTest, SendsBothWays) {
  up();
  const Bytes call = pattern(1000);
  const Bytes reply = pattern(4096, 9);
  ASSERT_TRUE(ok(send(*pair.client, call, 71)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_EQ(pair.server_notices.received[0].bytes, call);
  ASSERT_TRUE(ok(send(*pair.server, reply, 72)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.received.size() == 1; }));
  EXPECT_EQ(pair.client_notices.received[0].bytes, reply);
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 1; }));
  EXPECT_EQ(pair.client_notices.completed[0].id, 71U);
}

TEST_P(ProviderTest, ResponderWaitsForTheInitiatorsFirstMessage) {
  up();
  const Bytes early = pattern(10);
  const Bytes first = pattern(20);
  ASSERT_TRUE(ok(send(*pair.server, early)));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  if (can().responder_waits) {
    EXPECT_TRUE(pair.server_notices.completed.empty()) << "it left before the initiator's first";
  }
  ASSERT_TRUE(ok(send(*pair.client, first)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.received.size() == 1; }));
  EXPECT_EQ(pair.client_notices.received[0].bytes, early);
}

TEST_P(ProviderTest, GathersPartsIntoOneMessage) {
  up();
  const Bytes whole = pattern(300);
  const std::array<View, 4> parts{View(whole).first(100), View{}, View(whole).subspan(100, 1),
                                  View(whole).subspan(101)};
  ASSERT_TRUE(ok(pair.client->send(parts, 1)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_EQ(pair.server_notices.received[0].bytes, whole);
}

TEST_P(ProviderTest, ZeroLengthSendTakesAReceive) {
  up();
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_TRUE(pair.server_notices.received[0].bytes.empty());
}

TEST_P(ProviderTest, DeliversManySendsInOrder) {
  constexpr std::size_t kCount = 300;
  up(kCount, 256);
  std::vector<Bytes> messages;
  for (std::size_t i = 0; i < kCount; ++i) {
    messages.push_back(pattern(i % 200, static_cast<std::uint8_t>(i)));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(ok(send(*pair.client, messages[i], i)));
  }
  ASSERT_TRUE(pair.poll_until([&] {
    return pair.server_notices.received.size() == kCount &&
           pair.client_notices.completed.size() == kCount;
  }));
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(pair.server_notices.received[i].bytes, messages[i]) << "message " << i;
    EXPECT_EQ(pair.server_notices.received[i].id, i);
    EXPECT_EQ(pair.client_notices.completed[i].id, i);
  }
}

TEST_P(ProviderTest, LargeSendFillsALargeReceive) {
  constexpr std::size_t kSize = 3 << 20;
  up(1, kSize);
  const Bytes message = pattern(kSize);
  ASSERT_TRUE(ok(send(*pair.client, message)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_TRUE(pair.server_notices.received[0].bytes == message) << "octets differ";
}

TEST_P(ProviderTest, WritesIntoARegionBeforeTheNextSend) {
  up();
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{5}, std::size_t{70000}, std::size_t{2} << 20}) {
    auto region = pair.server_domain->allocate(size + 16, {false, true});
    const Bytes data = pattern(size);
    const std::size_t before = pair.server_notices.received.size();
    pair.client_notices.completed.clear();
    ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), region->base() + 8, 1)));
    ASSERT_TRUE(ok(pair.client->send({}, 2)));
    ASSERT_TRUE(pair.poll_until([&] {
      return pair.server_notices.received.size() > before &&
             pair.client_notices.completed.size() == 2;
    })) << size
        << " octets; " << pair.progress();
    const MutableView bytes = region->bytes();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin() + 8)) << size << " octets";
    EXPECT_EQ(bytes[7], std::byte{0});
    EXPECT_EQ(bytes[8 + size], std::byte{0});
    EXPECT_TRUE(region->guards_intact());
  }
}

TEST_P(ProviderTest, ReadsFromARegion) {
  up();
  // The initiator's first message opens the responder's direction.
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    auto source = pair.server_domain->allocate(size + 8, {true, false});
    auto sink = pair.client_domain->allocate(size + 8, {});
    const Bytes data = pattern(size, 3);
    std::copy(data.begin(), data.end(), source->bytes().begin() + 4);
    pair.client_notices.completed.clear();
    ASSERT_TRUE(ok(pair.client->rdma_read(*sink, 2, static_cast<std::uint32_t>(size),
                                          source->stag(), source->base() + 4, 33)));
    ASSERT_TRUE(pair.poll_until([&] {
      return !pair.client_notices.completed.empty() &&
             pair.client_notices.completed.back().operation == Operation::rdma_read;
    })) << size;
    EXPECT_EQ(pair.client_notices.completed.back().id, 33U);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), sink->bytes().begin() + 2));
    EXPECT_TRUE(sink->guards_intact());
  }
}

TEST_P(ProviderTest, ServerReadsAndWritesClientMemory) {
  up();
  auto source = pair.client_domain->allocate(50000, {true, false});
  auto target = pair.client_domain->allocate(50000, {false, true});
  auto sink = pair.server_domain->allocate(50000, {});
  const Bytes data = pattern(50000, 5);
  std::copy(data.begin(), data.end(), source->bytes().begin());
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  ASSERT_TRUE(ok(pair.server->rdma_read(*sink, 0, 50000, source->stag(), source->base(), 2)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.completed.size() == 1; }));
  ASSERT_TRUE(ok(pair.server->rdma_write(sink->bytes(), target->stag(), target->base(), 3)));
  ASSERT_TRUE(ok(pair.server->send({}, 4)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.received.size() == 1; }));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), target->bytes().begin()));
}

TEST_P(ProviderTest, ReadsBeyondOrdWaitForTheirTurn) {
  pair.client_options.ord = 2;
  up();
  auto source = pair.server_domain->allocate(100000, {true, false});
  auto sink = pair.client_domain->allocate(100000, {});
  const Bytes data = pattern(100000);
  std::copy(data.begin(), data.end(), source->bytes().begin());
  for (WorkId id = 0; id < 10; ++id) {
    ASSERT_TRUE(ok(pair.client->rdma_read(*sink, id * 10000, 10000, source->stag(),
                                          source->base() + id * 10000, id)));
  }
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 10; }));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), sink->bytes().begin()));
  for (WorkId id = 0; id < 10; ++id) {
    EXPECT_EQ(pair.client_notices.completed[id].id, id);
  }
}

TEST_P(ProviderTest, BothSidesReadAtOnceWithoutDeadlock) {
  pair.client_options.ord = 1;
  pair.server_options.ord = 1;
  up();
  constexpr std::uint32_t kSize = 1 << 20;
  auto client_source = pair.client_domain->allocate(kSize, {true, false});
  auto server_source = pair.server_domain->allocate(kSize, {true, false});
  auto client_sink = pair.client_domain->allocate(kSize, {});
  auto server_sink = pair.server_domain->allocate(kSize, {});
  for (WorkId id = 0; id < 4; ++id) {
    ASSERT_TRUE(ok(pair.client->rdma_read(*client_sink, 0, kSize, server_source->stag(),
                                          server_source->base(), id)));
    ASSERT_TRUE(ok(pair.server->rdma_read(*server_sink, 0, kSize, client_source->stag(),
                                          client_source->base(), id)));
  }
  EXPECT_TRUE(pair.poll_until([&] {
    return pair.client_notices.completed.size() == 4 && pair.server_notices.completed.size() == 4;
  }));
}

TEST_P(ProviderTest, DisconnectDeliversWhatIsQueued) {
  up(1, 1 << 20);
  const Bytes message = pattern(1 << 20);
  ASSERT_TRUE(ok(send(*pair.client, message)));
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
  ASSERT_EQ(pair.server_notices.received.size(), 1U);
  EXPECT_TRUE(pair.server_notices.received[0].bytes == message);
  EXPECT_EQ(pair.client_notices.closed->code, Errc::local_close);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
  EXPECT_EQ(pair.client->send({}, 1).error().code, Errc::not_connected);
}

TEST_P(ProviderTest, AbortResetsThePeer) {
  up();
  pair.client->abort();
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.client_notices.closed->code, Errc::local_close);
  EXPECT_EQ(pair.server_notices.closed->code,
            can().sees_reset ? Errc::peer_reset : Errc::peer_closed);
}

// A late event of a destroyed connection has no receiver.
TEST_P(ProviderTest, AbortsWithWorkInFlightLeaveTheNextConnectionAlone) {
  constexpr int kConnections = 40;
  const Bytes message = pattern(64);
  for (int i = 0; i < kConnections; ++i) {
    SCOPED_TRACE("connection " + std::to_string(i));
    up();
    notify(*pair.client, pair.server_notices);
    for (Connection* connection : {pair.client.get(), pair.server.get()}) {
      for (WorkId id = 1; id < 5; ++id) {
        ASSERT_TRUE(ok(send(*connection, message, id)));
      }
    }
    pair.provider->poll(std::chrono::milliseconds{0});
    pair.client->abort();
    pair.drop_client();
    pair.drop_server();
  }
}

TEST_P(ProviderTest, HandlerMayPostAndDisconnectInsideANotice) {
  up();
  const Bytes reply = pattern(5);
  pair.server_notices.when_received = [&](Connection& connection, const Received&) {
    EXPECT_TRUE(send(connection, reply));
    connection.disconnect();
  };
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  ASSERT_TRUE(pair.poll_until_closed());
  ASSERT_EQ(pair.client_notices.received.size(), 1U);
  EXPECT_EQ(pair.client_notices.received[0].bytes, reply);
}

TEST_P(ProviderTest, RetiredConnectionMayGoInsideItsOwnNotice) {
  up();
  pair.server_notices.when_received = [&](Connection&, const Received&) {
    pair.provider->retire(std::move(pair.server));
  };
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.closed.has_value(); }));
  EXPECT_FALSE(pair.server_notices.closed) << "a retired connection gives no notice";
}

TEST_P(ProviderTest, OutboundReadsAreBoundedByWhatThePeerTakes) {
  pair.client_options.ord = 20;
  pair.client_options.ird = 3;
  pair.server_options.ird = 5;
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  const std::uint16_t most = pair.client->most_outbound_reads();
  // siw raises the responder's depth to the initiator's wish (relaxed_ird_negotiation).
  EXPECT_TRUE(most == 5 || (!can().fault_hooks && most == 20)) << most;
  EXPECT_EQ(pair.server->most_outbound_reads(), 3);
}

TEST_P(ProviderTest, OutboundReadsAreUnknownBeforeTheConnectionIsUp) {
  pair.client_options.ord = 20;
  auto connection = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain,
                                           pair.client_options, pair.client_notices);
  ASSERT_TRUE(connection);
  EXPECT_EQ((*connection)->most_outbound_reads(), 0);
}

// 32 credits, a chunk of 256 segments each, and the reply: a legal client can make a server post
// this before it reads anything.
TEST_P(ProviderTest, CallsOfAllCreditsInPagesFitTheQueue) {
  up();
  auto region = pair.client_domain->allocate(256, {false, true});
  const Bytes octet(1);
  ASSERT_TRUE(pair.client->send({}, 1));
  for (WorkId call = 0; call < 32; ++call) {
    for (std::size_t segment = 0; segment < 256; ++segment) {
      ASSERT_TRUE(
          pair.server->rdma_write(octet, region->stag(), region->base() + segment, segment));
    }
    if (call < 8) {
      ASSERT_TRUE(pair.server->send({}, call));
    }
  }
  EXPECT_TRUE(pair.poll_until([&] { return pair.client_notices.received.size() == 8; }));
  EXPECT_TRUE(pair.poll_until([&] { return pair.server->unsent_operations() == 0; }));
}

TEST_P(ProviderTest, PostedOperationsAreBounded) {
  Limits limits;
  limits.posted_operations = 3;
  Pair small(GetParam(), limits);
  ASSERT_NO_FATAL_FAILURE(small.connect());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(small.client->send({}, 1));
  }
  const auto refused = small.client->send({}, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::queue_full);
}

TEST_P(ProviderTest, LocalMistakesAreErrorsAndChangeNothing) {
  up();
  auto sink = pair.client_domain->allocate(100, {});
  auto foreign = pair.server_domain->allocate(100, {});
  EXPECT_EQ(pair.client->rdma_read(*sink, 1, 100, 1, 1, 1).error().code, Errc::bad_region);
  EXPECT_EQ(pair.client->rdma_read(*sink, 101, 0, 1, 1, 1).error().code, Errc::bad_region);
  EXPECT_EQ(pair.client->rdma_read(*foreign, 0, 1, 1, 1, 1).error().code, Errc::bad_region);
  EXPECT_EQ(pair.client->unsent_operations(), 0U);
  pair.client_options.private_data.resize(600);
  const auto refused = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain,
                                              pair.client_options, pair.client_notices);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::too_large);
}

TEST_P(ProviderTest, ConnectToAClosedPortIsRefused) {
  const std::string url = pair.url();
  pair.listener.reset();
  auto connection =
      pair.provider->connect(*parse_url(url), *pair.client_domain, {}, pair.client_notices);
  ASSERT_TRUE(connection);
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.refused.has_value(); }));
  EXPECT_EQ(pair.client_notices.refused->code, Errc::cannot_connect);
}

TEST_P(ProviderTest, UnknownNameIsAnError) {
  const auto connection =
      pair.provider->connect(*parse_url(GetParam().name + "://no-such-host.invalid"),
                             *pair.client_domain, {}, pair.client_notices);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, Errc::name_not_found);
}

TEST_P(ProviderTest, EventsOfBothSidesTellTheSameStory) {
  if (!can().windows) {
    GTEST_SKIP() << "no region that the peer can close";
  }
  pair.client_options.private_data = octets("12345678");
  auto region = pair.server_domain->allocate(100, {});
  auto sink = pair.client_domain->allocate(100, {});
  up(2, 64);
  const Bytes data = pattern(100);
  notify(*pair.client, pair.server_notices);
  ASSERT_TRUE(ok(pair.server->open_window(*region, {true, true})));
  notify(*pair.server, pair.client_notices);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), region->base(), 1)));
  ASSERT_TRUE(ok(pair.client->rdma_read(*sink, 0, 100, region->stag(), region->base(), 2)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 3; }));
  ASSERT_TRUE(ok(pair.client->send({}, 3, region->stag())));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 2; }));
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
  const auto seen = [](const Notices& notices) {
    return std::to_string(notices.peer_private_data.size());
  };
  // Who makes the octets knows what the peer gets. A device adds zeros unseen.
  const auto given = [&](const Notices& peer, std::size_t size) {
    return can().byte_capture ? seen(peer) : std::to_string(size);
  };
  const std::vector<std::string> transfers{"client RdmaWrite 100", "client RdmaRead 100",
                                           "server RdmaReadResponse 100"};
  std::vector<std::string> server{"client Connect " + seen(pair.server_notices),
                                  "server Accept " + given(pair.client_notices, 0),
                                  "server ReceivePosted 1x64",
                                  "server ReceivePosted 1x64",
                                  "client Send 0",
                                  "server MemoryOffered 100",
                                  "server Send 0"};
  if (can().sees_remote_operations) {
    server.insert(server.end(), transfers.begin(), transfers.end());
  }
  server.insert(server.end(), {"client Send 0 invalidating", "server MemoryInvalidated intact",
                               "client Disconnect clean"});
  EXPECT_EQ(pair.server_events.lines, server);
  std::vector<std::string> client{"client Connect " + given(pair.server_notices, 8),
                                  "server Accept " + seen(pair.client_notices),
                                  "client ReceivePosted 1x64",
                                  "client ReceivePosted 1x64",
                                  "client Send 0",
                                  "server Send 0"};
  client.insert(client.end(), transfers.begin(), transfers.end());
  client.insert(client.end(), {"client Send 0 invalidating", "client Disconnect clean"});
  EXPECT_EQ(pair.client_events.lines, client);
}

TEST_P(ProviderTest, MemoryThatWasOpenBeforeIsToldAtTheStart) {
  auto region = pair.server_domain->allocate(100, {true, true});
  up(1, 64);
  ASSERT_GE(pair.server_events.lines.size(), 3U);
  EXPECT_EQ(pair.server_events.lines[2], "server MemoryOffered 100");
  region->invalidate();
  EXPECT_EQ(pair.server_events.lines.back(), "server MemoryInvalidated intact");
}

TEST_P(ProviderTest, AnyBaseCanBeChosen) {
  if (!can().chosen_base) {
    GTEST_SKIP() << "the device chooses tagged offsets";
  }
  up();
  const Bytes data = pattern(4096);
  auto sink = pair.client_domain->allocate(4096, {});
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x7ffff801},
                                   std::uint64_t{0x1234567800000abc}, ~std::uint64_t{8191}}) {
    auto region = pair.server_domain->allocate(4096, {true, true}, base);
    ASSERT_TRUE(region->valid()) << base;
    EXPECT_EQ(region->base(), base);
    ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), base, 1)));
    ASSERT_TRUE(ok(pair.client->rdma_read(*sink, 0, 4096, region->stag(), base, 2)));
    const std::size_t before = pair.client_notices.completed.size();
    ASSERT_TRUE(
        pair.poll_until([&] { return pair.client_notices.completed.size() >= before + 2; }));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), region->bytes().begin())) << base;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), sink->bytes().begin())) << base;
    EXPECT_TRUE(region->invalidate());
  }
}

TEST_P(ProviderTest, OctetsOfBothSidesAgree) {
  if (GetParam().name != "iwarp") {
    GTEST_SKIP() << "there is no stream whose octets can be seen";
  }
  up(4, 1 << 20);
  auto region = pair.server_domain->allocate(1 << 20, {true, true});
  auto sink = pair.client_domain->allocate(1 << 20, {});
  ASSERT_TRUE(ok(pair.client->rdma_read(*sink, 0, 1 << 20, region->stag(), region->base(), 2)));
  ASSERT_TRUE(ok(pair.client->rdma_write(sink->bytes(), region->stag(), region->base(), 2)));
  ASSERT_TRUE(ok(pair.client->send({}, 3)));
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(pair.client_bytes.from_client == pair.server_bytes.from_client);
  EXPECT_TRUE(pair.client_bytes.from_server == pair.server_bytes.from_server);
  EXPECT_GT(pair.client_bytes.from_server.size(), std::size_t{1} << 20);
  EXPECT_EQ(pair.client_bytes.ends, (std::vector<std::string>{"client clean", "server clean"}));
  EXPECT_EQ(pair.server_bytes.ends, (std::vector<std::string>{"client clean", "server clean"}));
}

TEST_P(ProviderTest, SilenceEndsAConnectionThatHasALimit) {
  auto now = std::make_shared<std::int64_t>(1);
  Pair timed(GetParam(), {}, [now] { return *now; });
  timed.client_options.idle_timeout = std::chrono::seconds(3);
  ASSERT_NO_FATAL_FAILURE(timed.connect());
  *now += std::chrono::nanoseconds(std::chrono::seconds(3)).count() - 1;
  timed.provider->poll(std::chrono::milliseconds(0));
  EXPECT_TRUE(timed.client->established());
  *now += 1;
  ASSERT_TRUE(timed.poll_until_closed());
  EXPECT_EQ(timed.client_notices.closed->code, Errc::timed_out);
  EXPECT_EQ(timed.server_notices.closed->code, Errc::peer_closed);
}

STEERTAG_OVER_PROVIDERS(ProviderTest);

}  // namespace
}  // namespace steertag::fabric
