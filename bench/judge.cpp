// Benchmarks of the judge: events of a typical exchange, call and reply, decoded and judged.
// A conforming exchange must give no finding and, in the steady state, no allocation.
#include "conformance/judge.h"

#include <benchmark/benchmark.h>

#include "messages.h"
#include "steady_state.h"

namespace {

using namespace steertag;
using conformance::Judge;
using trace::Role;

/// One connection whose exchanges follow each other with rising XIDs.
class Connection {
 public:
  Connection(const wire::Header& call, View arguments, const wire::Header& reply, View results)
      : call_(bench::message(call, arguments)),
        reply_(bench::message(reply, results)),
        call_rpc_(wire::encoded_size(call)),
        reply_rpc_(wire::encoded_size(reply)) {
    give(Role::client, trace::Connect{});
    give(Role::server, trace::Accept{});
  }

  /// `placed` octets go into the memory of `target` between call and reply.
  void exchange(const wire::Segment& target, std::uint64_t placed) {
    ++xid_;
    stamp(call_, call_rpc_);
    stamp(reply_, reply_rpc_);
    give(Role::client, trace::Send{call_, {}});
    if (placed > 0) {
      give(Role::server, trace::RdmaWrite{target.handle, target.offset, placed, {}});
    }
    give(Role::server, trace::Send{reply_, {}});
  }

  const Judge& judge() const { return judge_; }

 private:
  void stamp(Bytes& message, std::size_t rpc) const {
    wire::store_u32(message.data(), xid_);
    wire::store_u32(message.data() + rpc, xid_);
  }
  void give(Role actor, trace::Body body) {
    judge_.on_event(trace::Event{index_++, 0, actor, body});
  }

  Bytes call_;
  Bytes reply_;
  std::size_t call_rpc_;
  std::size_t reply_rpc_;
  Judge judge_;
  std::uint64_t index_ = 0;
  std::uint32_t xid_ = bench::kXid;
};

void measure(benchmark::State& state, Connection& connection, const wire::Segment& target,
             std::uint64_t placed) {
  constexpr int kWarmUp = 1024;  // exchanges in which tables reach their sizes
  for (int i = 0; i < kWarmUp; ++i) connection.exchange(target, placed);
  const bench::SteadyState steady;
  for ([[maybe_unused]] auto turn : state) connection.exchange(target, placed);
  constexpr std::int64_t kMessages = 2;  // the call and the reply
  steady.report(state, state.iterations() * kMessages);
  if (!connection.judge().findings().empty()) {
    const conformance::Finding& first = connection.judge().findings().front();
    const std::string what = std::string(first.requirement->id) + ": " + first.observed;
    state.SkipWithError(what.c_str());
  }
}

/// An accepted reply, SUCCESS, with the words of the results behind it.
Bytes nfs3_reply(std::initializer_list<std::uint32_t> results) {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t word : {bench::kXid, 1u, 0u, 0u, 0u, 0u, 0u}) writer.u32(word);
  for (const std::uint32_t word : results) writer.u32(word);
  return out;
}

void judge_null(benchmark::State& state) {
  Bytes call;
  wire::Writer writer(call);
  for (const std::uint32_t word : {bench::kXid, 0u, 2u, 100003u, 3u, 0u, 0u, 0u, 0u, 0u}) {
    writer.u32(word);
  }
  Connection connection(bench::chunkless(), call, bench::chunkless(), nfs3_reply({}));
  measure(state, connection, {}, 0);
}

void judge_read(benchmark::State& state) {
  constexpr std::uint32_t kPlaced = 4096;
  const wire::Header call = bench::read_call();
  wire::Header reply = call;
  reply.write_list.at(0)[0].length = kPlaced;
  // READ arguments: offset (two words) and count; results: status, no attributes, count, eof, data
  // length.
  const Bytes arguments = bench::nfs3_call(6, {0, 0, kPlaced});
  const Bytes results = nfs3_reply({0, 0, kPlaced, 0, kPlaced});
  Connection connection(call, arguments, reply, results);
  measure(state, connection, call.write_list[0][0], kPlaced);
}

BENCHMARK(judge_null);
BENCHMARK(judge_read);

}  // namespace
