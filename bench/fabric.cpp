// Benchmarks of the iwarp provider over loopback: two threads with a provider each. Rates of RDMA
// Write, RDMA Read and Send by size, and the round trip of small Sends; with and without CRC.
#include "fabric/fabric.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace steertag;
using namespace steertag::fabric;
using std::chrono::milliseconds;

constexpr std::size_t kLargest = 1 << 20;
constexpr milliseconds kTurn{1000};
// Operations in flight of a rate benchmark; the responder acknowledges every half of it.
constexpr std::size_t kWindow = 16;

/// One side: provider, domain and connection, and counts of what it was told.
class Side : public Handler {
 public:
  Side() {
    auto made = make_provider("iwarp", system_random());
    if (made) provider = std::move(*made);
    domain = provider->make_domain();
  }

  void on_established(Connection&, View) override { established = true; }
  void on_refused(Connection&, const Error&, View) override { failed = true; }
  void on_received(Connection& from, WorkId id, MutableView,
                   std::optional<std::uint32_t>) override {
    from.post_receive(receives[id], id);
    ++received;
    if (answer) answer(from);
  }
  void on_completed(Connection&, WorkId, Operation operation) override {
    ++completed[static_cast<std::size_t>(operation)];
  }
  void on_closed(Connection&, const CloseReason&) override { failed = true; }

  void post(Connection& to, std::size_t size) {
    receives.resize(2 * kWindow, Bytes(size));
    for (WorkId id = 0; id < receives.size(); ++id) to.post_receive(receives[id], id);
  }
  std::uint64_t done(Operation operation) const {
    return completed[static_cast<std::size_t>(operation)];
  }

  std::unique_ptr<Provider> provider;
  std::unique_ptr<Domain> domain;
  std::vector<Bytes> receives;
  std::function<void(Connection&)> answer;
  bool established = false;
  bool failed = false;
  std::uint64_t received = 0;
  std::array<std::uint64_t, 3> completed{};
};

/// The responder in a thread of its own, and the initiator for the benchmark's loop.
class Bench {
 public:
  explicit Bench(bool crc, std::size_t receive_bytes = 64) {
    std::atomic<std::uint16_t> port = 0;
    thread_ = std::thread([this, &port, crc, receive_bytes] { serve(port, crc, receive_bytes); });
    while (port == 0) std::this_thread::yield();
    ConnectionOptions options;
    options.crc = crc;
    auto connected = client.provider->connect(Url{"iwarp", "127.0.0.1", port, ""}, *client.domain,
                                              options, client);
    if (!connected) return;
    connection = std::move(*connected);
    client.post(*connection, receive_bytes);
    turn_until([&] { return client.established; });
  }
  ~Bench() {
    stop_ = true;
    server_.provider->wake();
    thread_.join();
  }

  /// False once the connection has failed.
  template <class Done>
  bool turn_until(Done done) {
    while (!done() && !client.failed) client.provider->poll(kTurn);
    return !client.failed;
  }
  /// Set before the first message; runs in the responder's thread.
  void on_message(std::function<void(Connection&)> answer) { server_.answer = std::move(answer); }

  Side client;
  std::unique_ptr<Connection> connection;
  std::uint32_t stag = 0;
  std::uint64_t base = 0;

 private:
  void serve(std::atomic<std::uint16_t>& port, bool crc, std::size_t receive_bytes) {
    const auto region = server_.domain->allocate(kLargest, {true, true});
    std::unique_ptr<Connection> accepted;
    ConnectionOptions options;
    options.crc = crc;
    const auto listener = server_.provider->listen(
        Url{"iwarp", "127.0.0.1", 0, ""}, [&](std::unique_ptr<ConnectionRequest> request) {
          auto made = request->accept(*server_.domain, options, server_);
          if (!made) return;
          accepted = std::move(*made);
          server_.post(*accepted, receive_bytes);
        });
    stag = region->stag();
    base = region->base();
    port = listener ? (*listener)->port() : std::uint16_t{1};
    while (!stop_) server_.provider->poll(kTurn);
    accepted.reset();
  }

  Side server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

void report(benchmark::State& state, std::size_t size) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
  state.SetItemsProcessed(state.iterations());
}

void rdma_write(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(state.range(1) != 0);
  const Bytes data(size);
  std::uint64_t posted = 0;
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.connection->rdma_write(data, bench.stag, bench.base, ++posted)) break;
    const auto room = [&] { return posted - bench.client.done(Operation::rdma_write) < kWindow; };
    if (!bench.turn_until(room)) state.SkipWithError("the connection failed");
  }
  report(state, size);
}

void rdma_read(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(state.range(1) != 0);
  const auto sink = bench.client.domain->allocate(size, {});
  std::uint64_t posted = 0;
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.connection->rdma_read(*sink, 0, static_cast<std::uint32_t>(size), bench.stag,
                                     bench.base, ++posted)) {
      break;
    }
    const auto room = [&] { return posted - bench.client.done(Operation::rdma_read) < kWindow; };
    if (!bench.turn_until(room)) state.SkipWithError("the connection failed");
  }
  report(state, size);
  bench.turn_until([&] { return posted == bench.client.done(Operation::rdma_read); });
}

void send(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(state.range(1) != 0, size);
  bench.on_message([taken = std::size_t{0}](Connection& connection) mutable {
    if (++taken % (kWindow / 2) == 0) (void)connection.send({}, 0);
  });
  const Bytes data(size);
  const View part(data);
  std::uint64_t posted = 0;
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.connection->send({&part, 1}, ++posted)) break;
    const auto room = [&] { return posted - bench.client.received * (kWindow / 2) < kWindow; };
    if (!bench.turn_until(room)) state.SkipWithError("the connection failed");
  }
  report(state, size);
}

void ping_pong(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(state.range(1) != 0, size);
  const Bytes reply(size);
  const View back(reply);
  bench.on_message([&](Connection& connection) { (void)connection.send({&back, 1}, 0); });
  std::uint64_t posted = 0;
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.connection->send({&back, 1}, ++posted)) break;
    if (!bench.turn_until([&] { return bench.client.received == posted; })) {
      state.SkipWithError("the connection failed");
    }
  }
  report(state, size);
}

const std::vector<std::string> kNames{"", "crc"};
const std::vector<std::vector<std::int64_t>> kSizes{{64, 1024, 4096, 16384, 65536, 262144, 1048576},
                                                    {0, 1}};

BENCHMARK(rdma_write)->ArgNames(kNames)->ArgsProduct(kSizes)->UseRealTime();
BENCHMARK(rdma_read)->ArgNames(kNames)->ArgsProduct(kSizes)->UseRealTime();
BENCHMARK(send)->ArgNames(kNames)->ArgsProduct(kSizes)->UseRealTime();
BENCHMARK(ping_pong)->ArgNames(kNames)->ArgsProduct({{64, 4096}, {0, 1}})->UseRealTime();

}  // namespace
