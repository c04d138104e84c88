// Benchmarks of the iwarp and roce providers over loopback: two threads with a provider each.
// Rates of RDMA Write, RDMA Read and Send by size, and the round trip of small Sends; iwarp with
// and without CRC.
#include "fabric/fabric.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace steertag;
using namespace steertag::fabric;
using std::chrono::milliseconds;

constexpr std::size_t kLargest = 1 << 20;
constexpr milliseconds kTurn{1000};
// For one step on the loopback device, which takes a millisecond at most. A machine so busy that it
// takes longer has nothing to measure.
constexpr milliseconds kPatience{10000};
// Operations in flight of a rate benchmark; the responder acknowledges every half of it.
constexpr std::size_t kWindow = 16;

/// A provider, and the responder's address. That of roce is one that no other end has: each is the
/// only one of its address.
struct Scheme {
  const char* name;
  const char* host;
};
constexpr Scheme kIwarp{"iwarp", "127.0.0.1"};
constexpr Scheme kRoce{"roce", "127.47.91.1"};

/// One side: provider, domain and connection, and counts of its completions and notices.
class Side : public Handler {
 public:
  explicit Side(const Scheme& scheme) {
    auto made = make_provider(scheme.name, system_random());
    if (!made) {
      fail("no provider: " + made.error().message());
      return;
    }
    provider = std::move(*made);
    domain = provider->make_domain();
  }

  void on_established(Connection&, View) override { established = true; }
  void on_refused(Connection&, const Error& error, View) override { fail(error.message()); }
  void on_received(Connection& from, WorkId id, MutableView,
                   std::optional<std::uint32_t>) override {
    from.post_receive(receives[id], id);
    ++received;
    if (answer) answer(from);
  }
  void on_completed(Connection&, WorkId, Operation operation) override {
    ++completed[static_cast<std::size_t>(operation)];
  }
  void on_closed(Connection&, const CloseReason& reason) override {
    fail(Error{reason.code, reason.detail}.message());
  }

  /// Keeps the first message.
  void fail(const std::string& message) {
    if (failure.empty()) failure = message;
  }
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
  std::string failure;  // empty as long as all is well
  std::uint64_t received = 0;
  std::array<std::uint64_t, 3> completed{};
};

/// The responder in a thread of its own, and the initiator for the benchmark's loop.
class Bench {
 public:
  Bench(const Scheme& scheme, bool crc, std::size_t receive_bytes = 64)
      : client(scheme), scheme_(scheme), server_(scheme) {
    if (!client.failure.empty()) return;
    std::promise<Listening> promise;
    std::future<Listening> listening = promise.get_future();
    thread_ = std::thread([this, crc, receive_bytes, at = std::move(promise)]() mutable {
      serve(std::move(at), crc, receive_bytes);
    });
    // Given in any case, before the responder's loop.
    const Listening where = listening.get();
    if (!where) {
      client.fail("no responder: " + where.error());
      return;
    }
    stag = where->stag;
    base = where->base;
    ConnectionOptions options;
    options.crc = crc;
    auto connected = client.provider->connect(Url{scheme.name, scheme.host, where->port, ""},
                                              *client.domain, options, client);
    if (!connected) {
      client.fail(connected.error().message());
      return;
    }
    connection = std::move(*connected);
    client.post(*connection, receive_bytes);
    poll_until([&] { return client.established; });
  }
  ~Bench() {
    if (!thread_.joinable()) return;
    stop_ = true;
    if (server_.provider) server_.provider->wake();
    thread_.join();
  }

  /// False once the connection has failed, or if nothing comes of it in kPatience.
  template <class Done>
  bool poll_until(Done done) {
    using std::chrono::steady_clock;
    if (done() && client.failure.empty()) return true;
    const auto end = steady_clock::now() + kPatience;
    while (!done() && client.failure.empty()) {
      client.provider->poll(kTurn);
      if (steady_clock::now() > end) client.fail("the responder is silent");
    }
    return client.failure.empty();
  }
  /// Takes the outcome of a posted operation.
  bool posted(const Expected<void, Error>& operation) {
    if (!operation) client.fail(operation.error().message());
    return operation.has_value();
  }
  /// Ends the benchmark if something went wrong.
  bool usable(benchmark::State& state) const {
    if (!client.failure.empty()) state.SkipWithError(client.failure.c_str());
    return client.failure.empty();
  }
  /// Set before the first message; runs in the responder's thread.
  void on_message(std::function<void(Connection&)> answer) { server_.answer = std::move(answer); }

  Side client;
  std::unique_ptr<Connection> connection;
  std::uint32_t stag = 0;
  std::uint64_t base = 0;

 private:
  struct Place {
    std::uint16_t port = 0;
    std::uint32_t stag = 0;
    std::uint64_t base = 0;
  };
  using Listening = Expected<Place, std::string>;

  void serve(std::promise<Listening> listening, bool crc, std::size_t receive_bytes) {
    if (!server_.failure.empty()) {
      listening.set_value(tl::unexpected(server_.failure));
      return;
    }
    const auto region = server_.domain->allocate(kLargest, {true, true});
    std::unique_ptr<Connection> accepted;
    ConnectionOptions options;
    options.crc = crc;
    const auto listener = server_.provider->listen(
        Url{scheme_.name, scheme_.host, 0, ""}, [&](std::unique_ptr<ConnectionRequest> request) {
          // On failure the initiator sees its connection end.
          auto made = request->accept(*server_.domain, options, server_);
          if (!made) return;
          accepted = std::move(*made);
          server_.post(*accepted, receive_bytes);
        });
    if (!listener) {
      listening.set_value(tl::unexpected(listener.error().message()));
      return;
    }
    listening.set_value(Place{(*listener)->port(), region->stag(), region->base()});
    while (!stop_) server_.provider->poll(kTurn);
    accepted.reset();
  }

  Scheme scheme_;
  Side server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

void report(benchmark::State& state, std::size_t size) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
  state.SetItemsProcessed(state.iterations());
}

void rdma_write(benchmark::State& state, const Scheme& scheme) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(scheme, state.range(1) != 0);
  if (!bench.usable(state)) return;
  const Bytes data(size);
  std::uint64_t count = 0;
  const auto room = [&] { return count - bench.client.done(Operation::rdma_write) < kWindow; };
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.posted(bench.connection->rdma_write(data, bench.stag, bench.base, ++count)) ||
        !bench.poll_until(room)) {
      break;
    }
  }
  if (bench.usable(state)) report(state, size);
}

void rdma_read(benchmark::State& state, const Scheme& scheme) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(scheme, state.range(1) != 0);
  if (!bench.usable(state)) return;
  const auto sink = bench.client.domain->allocate(size, {});
  std::uint64_t count = 0;
  const auto left = [&] { return count - bench.client.done(Operation::rdma_read); };
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.posted(bench.connection->rdma_read(*sink, 0, static_cast<std::uint32_t>(size),
                                                  bench.stag, bench.base, ++count)) ||
        !bench.poll_until([&] { return left() < kWindow; })) {
      break;
    }
  }
  bench.poll_until([&] { return left() == 0; });
  if (bench.usable(state)) report(state, size);
}

void send(benchmark::State& state, const Scheme& scheme) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(scheme, state.range(1) != 0, size);
  if (!bench.usable(state)) return;
  bench.on_message([taken = std::size_t{0}](Connection& connection) mutable {
    if (++taken % (kWindow / 2) == 0) (void)connection.send({}, 0);
  });
  const Bytes data(size);
  const View part(data);
  std::uint64_t count = 0;
  const auto room = [&] { return count - bench.client.received * (kWindow / 2) < kWindow; };
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.posted(bench.connection->send({&part, 1}, ++count)) || !bench.poll_until(room)) {
      break;
    }
  }
  if (bench.usable(state)) report(state, size);
}

void ping_pong(benchmark::State& state, const Scheme& scheme) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Bench bench(scheme, state.range(1) != 0, size);
  if (!bench.usable(state)) return;
  const Bytes reply(size);
  const View back(reply);
  bench.on_message([&](Connection& connection) { (void)connection.send({&back, 1}, 0); });
  std::uint64_t count = 0;
  const auto answered = [&] { return bench.client.received == count; };
  for ([[maybe_unused]] auto turn : state) {
    if (!bench.posted(bench.connection->send({&back, 1}, ++count)) || !bench.poll_until(answered)) {
      break;
    }
  }
  if (bench.usable(state)) report(state, size);
}

const std::vector<std::string> kNames{"", "crc"};
const std::vector<std::int64_t> kSizes{64, 1024, 4096, 16384, 65536, 262144, 1048576};
const std::vector<std::int64_t> kSmallSizes{64, 4096};
const std::vector<std::int64_t> kAnyCrc{0, 1};
const std::vector<std::int64_t> kCrc{1};  // roce is never without

#define STEERTAG_BENCH_OVER(provider, scheme, crc) \
  BENCHMARK_CAPTURE(rdma_write, provider, scheme)  \
      ->ArgNames(kNames)                           \
      ->ArgsProduct({kSizes, crc})                 \
      ->UseRealTime();                             \
  BENCHMARK_CAPTURE(rdma_read, provider, scheme)   \
      ->ArgNames(kNames)                           \
      ->ArgsProduct({kSizes, crc})                 \
      ->UseRealTime();                             \
  BENCHMARK_CAPTURE(send, provider, scheme)        \
      ->ArgNames(kNames)                           \
      ->ArgsProduct({kSizes, crc})                 \
      ->UseRealTime();                             \
  BENCHMARK_CAPTURE(ping_pong, provider, scheme)   \
      ->ArgNames(kNames)                           \
      ->ArgsProduct({kSmallSizes, crc})            \
      ->UseRealTime()

STEERTAG_BENCH_OVER(iwarp, kIwarp, kAnyCrc);
STEERTAG_BENCH_OVER(roce, kRoce, kCrc);

}  // namespace
