// What the tests of the peers share: a server and clients in one thread, over loopback iWARP.
// A test may take another provider. Randomness and time are repeatable.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "client/nfs3/nfs3_client.h"
#include "server/rpc/programs.h"
#include "server/server.h"
#include "server/storage/memory_backend.h"

namespace steertag::peer::testing {

using namespace std::chrono_literals;

inline fabric::RandomSource seeded_random(std::uint64_t seed) {
  return [engine = std::make_shared<std::mt19937_64>(seed)] { return (*engine)(); };
}

/// A clock that goes on by one millisecond whenever it is read.
inline Clock counting_clock() {
  return [count = std::make_shared<std::int64_t>(0)] {
    ++*count;
    return Time{1'700'000'000 + *count / 1000,
                static_cast<std::uint32_t>(*count % 1000) * 1'000'000};
  };
}

/// Octets that tell their place.
inline Bytes pattern(std::size_t length, std::uint32_t seed = 1) {
  Bytes octets(length);
  std::mt19937 engine(seed);
  for (std::byte& octet : octets) octet = static_cast<std::byte>(engine());
  return octets;
}

inline Bytes copy(View view) {
  return {view.begin(), view.end()};
}

class PeerTest : public ::testing::Test {
 protected:
  explicit PeerTest(const MemoryLimits& limits = {})
      : PeerTest(std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8), limits)) {}
  explicit PeerTest(std::unique_ptr<Backend> its_storage) : storage(std::move(its_storage)) {
    auto made = fabric::make_provider("iwarp", seeded_random(7));
    provider = std::move(*made);
  }

  /// Every program of the reference server over the fixture's storage.
  std::vector<std::unique_ptr<Program>> all_programs(
      const DeadlineClock& clock, const std::shared_ptr<DirectAccess>& access = {}) {
    Nfs4StateOptions state;
    state.clock = clock;
    state.random = seeded_random(9);
    return make_programs(*storage, state, access);
  }

  void serve(const ServerOptions& options = {}) {
    auto started = Server::start(*provider, *fabric::parse_url(origin + ":0"),
                                 all_programs(options.clock, options.direct), options);
    ASSERT_TRUE(started) << started.error().message();
    server = std::move(*started);
    url = *fabric::parse_url(origin + ":" + std::to_string(server->port()));
  }

  /// A client with the root's handle.
  std::unique_ptr<Nfs3Client> connect(const RequesterOptions& options = {}) {
    auto client = std::make_unique<Nfs3Client>(*provider, url, options, next_xid);
    next_xid += 0x01000000;
    const auto mounted = client->mount("/export");
    EXPECT_TRUE(mounted) << mounted.error().message();
    if (mounted) root = mounted->fhandle;
    return client;
  }

  /// Creates a file with this content straight in the storage.
  nfs3::FileHandle make_file(std::string_view name, View content) {
    NewNode node;
    node.change.mode = 0666;
    const NodeId id = *storage->create(storage->root(), name, node);
    EXPECT_EQ(storage->write(id, 0, content), peer::Status::ok);
    const Handle handle = storage->handle(id);
    return nfs3::FileHandle(View(handle));
  }

  /// What a file in the root holds.
  Bytes content(std::string_view name) {
    const auto node = storage->lookup(storage->root(), name);
    if (!node) return {};
    std::vector<Slice> slices;
    const auto length = storage->read(*node, 0, 1U << 30, slices);
    EXPECT_TRUE(length.has_value());
    Bytes octets;
    for (const Slice& slice : slices)
      octets.insert(octets.end(), slice.bytes.begin(), slice.bytes.end());
    return octets;
  }

  /// Drives both roles until `done`; fails after ten seconds of the steady clock.
  template <class Done>
  void drive(Done&& done, Requester* requester = nullptr) {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "nothing happened any more";
      if (requester) requester->step(0ms);
      server->poll(1ms);
    }
  }

  std::string origin = "iwarp://127.0.0.1";
  std::unique_ptr<fabric::Provider> provider;
  std::unique_ptr<Backend> storage;
  std::unique_ptr<Server> server;
  fabric::Url url;
  nfs3::FileHandle root;
  std::uint32_t next_xid = 0x10000000;
};

}  // namespace steertag::peer::testing
