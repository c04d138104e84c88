// Sockets that send no MPA request: what one source may hold, and that others still get in.
#include <gtest/gtest.h>

#include <vector>

#include "fabric/fabric.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/raw_peer.h"
#include "fabric/testing/startup_frames.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

constexpr std::string_view kCrowd = "127.0.0.2";

// The clock stands still: no startup of the crowd ends by its time limit.
class StartupFloodTest : public ::testing::Test {
 protected:
  static Limits few() {
    Limits limits;
    limits.startups = {16, 4, 8};
    return limits;
  }
  RawPeer& silent(std::string_view source = kCrowd) {
    RawPeer& peer = peers.emplace_back(RawPeer::to(pair.listener->port(), source));
    pair.provider->poll(std::chrono::milliseconds(0));
    return peer;
  }
  /// A client connects from another address.
  void expect_a_client_gets_in() {
    RawPeer client = RawPeer::to(pair.listener->port());
    const Bytes whole = encode(request());
    std::size_t sent = 0;
    EXPECT_TRUE(pair.poll_until([&] {
      sent += client.send(View(whole).subspan(sent));
      return pair.server_notices.established || !client.read();
    }));
    EXPECT_FALSE(client.ended) << "the client of another address was refused";
    EXPECT_TRUE(pair.server_notices.established);
  }

  ScriptedPeer hand;
  Pair pair{iwarp_factory(), few(), hand.clock()};
  std::vector<RawPeer> peers;
};

TEST_F(StartupFloodTest, OneSourceShutsOutOnlyItself) {
  for (std::size_t i = 0; i < few().startups.of_source; ++i) silent();
  EXPECT_TRUE(pair.refusals.empty());
  RawPeer& fifth = silent();
  ASSERT_TRUE(pair.poll_until([&] { return !fifth.read(); })) << "the fifth socket is still open";
  ASSERT_EQ(pair.refusals.size(), 1U);
  EXPECT_EQ(pair.refusals[0].peer.substr(0, kCrowd.size()), kCrowd);
  EXPECT_EQ(pair.refusals[0].error.message(),
            "too many connections are half open: 127.0.0.2 has 4, as many as one "
            "source may have");
  expect_a_client_gets_in();
}

TEST_F(StartupFloodTest, ABurstOfRefusalsIsReportedOnce) {
  for (std::size_t i = 0; i < 5 * few().startups.of_source; ++i) {
    RawPeer& peer = silent();
    if (i >= few().startups.of_source) {
      ASSERT_TRUE(pair.poll_until([&] { return !peer.read(); })) << "socket " << i << " is open";
    }
  }
  EXPECT_EQ(pair.refusals.size(), 1U);
}

TEST_F(StartupFloodTest, WhatEndsIsFreeForTheSameSource) {
  for (std::size_t i = 0; i < few().startups.of_source; ++i) silent();
  hand.advance(Limits{}.startup);
  ASSERT_TRUE(pair.poll_until([&] { return pair.refusals.size() == few().startups.of_source; }));
  pair.refusals.clear();
  for (std::size_t i = 0; i < few().startups.of_source; ++i) silent();
  EXPECT_TRUE(pair.refusals.empty()) << pair.refusals.front().error.message();
}

TEST_F(StartupFloodTest, AWholeRequestIsNoStartupAnyMore) {
  std::vector<std::unique_ptr<ConnectionRequest>> waiting;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> request) {
    waiting.push_back(std::move(request));
  };
  const Bytes whole = encode(request());
  for (std::size_t i = 0; i < 3 * few().startups.of_source; ++i) {
    RawPeer& peer = silent();
    ASSERT_TRUE(pair.poll_until([&] { return peer.send(whole) == whole.size(); }));
    ASSERT_TRUE(pair.poll_until([&] { return waiting.size() == i + 1; }));
  }
  EXPECT_TRUE(pair.refusals.empty()) << pair.refusals.front().error.message();
}

}  // namespace
}  // namespace steertag::fabric::iwarp
