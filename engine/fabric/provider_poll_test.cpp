// Every provider: its poll beside other providers and other threads.
#include <array>
#include <atomic>
#include <thread>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

class ProviderPollTest : public ProviderSuite {};

// The contract of the descriptor and `idle_for`: a caller that waits for nothing else misses
// nothing.
TEST_P(ProviderPollTest, TwoProvidersShareOneThread) {
  constexpr WorkId kRounds = 100;
  const std::unique_ptr<Provider> other = GetParam().make({}, {});
  const auto domain = other->make_domain();
  Notices notices;
  auto connected = other->connect(*parse_url(pair.url()), *domain, {}, notices);
  ASSERT_TRUE(connected);
  const std::array<net::Pollable*, 2> both{pair.provider.get(), other.get()};
  const auto poll_until = [&](const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < end) {
      net::poll_all(both, kPatience);
    }
    return done();
  };
  ASSERT_TRUE(poll_until([&] { return notices.established && pair.server_notices.established; }));
  Bytes call(64);
  Bytes reply(64);
  pair.server_notices.when_received = [&](Connection& connection, const Received&) {
    connection.post_receive(call, 1);
    EXPECT_TRUE(connection.send({}, 2));
  };
  pair.server->post_receive(call, 1);
  for (WorkId round = 0; round < kRounds; ++round) {
    (*connected)->post_receive(reply, round);
    ASSERT_TRUE(ok((*connected)->send({}, round)));
    ASSERT_TRUE(poll_until([&] { return notices.received.size() > round; })) << "round " << round;
  }
  (*connected)->disconnect();
  EXPECT_TRUE(poll_until([&] { return notices.over() && pair.server_notices.over(); }));
}

TEST_P(ProviderPollTest, WakeEndsAPollOfAnotherThread) {
  std::atomic<bool> stop = false;
  std::unique_ptr<Provider> served = GetParam().make({}, {});
  const auto domain = served->make_domain();
  Notices notices;
  notices.when_received = [](Connection& connection, const Received&) {
    EXPECT_TRUE(connection.send({}, 2));
  };
  std::unique_ptr<Connection> accepted;
  Bytes buffer(64);
  Bytes answer(64);
  auto listening = served->listen(*parse_url(GetParam().name + "://" + GetParam().host + ":0"),
                                  [&](auto request) {
                                    auto connection = request->accept(*domain, {}, notices);
                                    ASSERT_TRUE(connection);
                                    accepted = std::move(*connection);
                                    accepted->post_receive(buffer, 1);
                                  });
  ASSERT_TRUE(listening);
  const std::uint16_t port = (*listening)->port();
  std::thread server([&] {
    while (!stop) {
      served->poll(std::chrono::hours(1));
    }
    accepted.reset();
    listening->reset();
  });
  auto connection = pair.provider->connect(
      *parse_url(GetParam().name + "://" + GetParam().host + ":" + std::to_string(port)),
      *pair.client_domain, {}, pair.client_notices);
  ASSERT_TRUE(connection);
  EXPECT_TRUE(pair.poll_until([&] { return pair.client_notices.established; }));
  (*connection)->post_receive(answer, 1);
  EXPECT_TRUE((*connection)->send({}, 1));
  EXPECT_TRUE(pair.poll_until([&] { return !pair.client_notices.received.empty(); }));
  stop = true;
  served->wake();
  server.join();
  EXPECT_TRUE(notices.established);
}

STEERTAG_OVER_PROVIDERS(ProviderPollTest);

}  // namespace
}  // namespace steertag::fabric
