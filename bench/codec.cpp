// Benchmarks of the transport header codec: messages a second, and allocations per message.
// The steady state must have no allocation.
#include <benchmark/benchmark.h>

#include "messages.h"
#include "steady_state.h"

namespace {

using namespace steertag;

/// Runs `each` in the benchmark's loop and reports; the first turn, which fills capacities, is not
/// counted. An allocation after it is an error of the benchmark.
template <class Each>
void measure(benchmark::State& state, Each each) {
  each();
  const bench::SteadyState steady;
  for ([[maybe_unused]] auto turn : state) each();
  steady.report(state, state.iterations());
}

void decode(benchmark::State& state, const wire::Header& source, const Bytes& payload) {
  const Bytes message = bench::message(source, payload);
  wire::Header header;
  measure(state, [&] {
    const Expected<View, wire::Fault> rest = wire::decode(message, header);
    if (!rest) state.SkipWithError("the message does not decode");
    benchmark::DoNotOptimize(rest);
    benchmark::DoNotOptimize(header);
  });
}

void encode(benchmark::State& state, const wire::Header& source) {
  Bytes out;
  measure(state, [&] {
    out.clear();
    wire::encode(source, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  });
}

// NFSv3 procedures: GETATTR 1, READ 6, WRITE 7.
void decode_chunkless(benchmark::State& state) {
  decode(state, bench::chunkless(), bench::nfs3_call(1, {}));
}
void decode_read_call(benchmark::State& state) {
  decode(state, bench::read_call(), bench::nfs3_call(6, {0, 0, 65536}));
}
void decode_write_call(benchmark::State& state) {
  decode(state, bench::write_call(), bench::nfs3_call(7, {0, 0, 65536, 2, 65536}));
}
void decode_many_segments(benchmark::State& state) {
  decode(state, bench::many_segments(), bench::nfs3_call(6, {0, 0, 65536}));
}
void encode_chunkless(benchmark::State& state) {
  encode(state, bench::chunkless());
}
void encode_read_call(benchmark::State& state) {
  encode(state, bench::read_call());
}
void encode_write_call(benchmark::State& state) {
  encode(state, bench::write_call());
}

BENCHMARK(decode_chunkless);
BENCHMARK(decode_read_call);
BENCHMARK(decode_write_call);
BENCHMARK(decode_many_segments);
BENCHMARK(encode_chunkless);
BENCHMARK(encode_read_call);
BENCHMARK(encode_write_call);

}  // namespace
