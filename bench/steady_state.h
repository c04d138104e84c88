// Reports the allocations of a benchmark's loop, and fails it when the steady state has any.
#pragma once

#include <benchmark/benchmark.h>

#include "operator_new.h"

namespace steertag::bench {

/// Counts from its construction; `report` ends the count.
class SteadyState {
 public:
  /// `messages` is how many messages the loop handled.
  void report(benchmark::State& state, std::int64_t messages) const {
    // The harness itself allocates a few times around the loop.
    constexpr std::uint64_t kHarnessAllocations = 64;
    const std::uint64_t allocated = allocations() - before_;
    state.SetItemsProcessed(messages);
    state.counters["allocs/msg"] = static_cast<double>(allocated) / static_cast<double>(messages);
    if (allocated > kHarnessAllocations) state.SkipWithError("the steady state allocates");
  }

 private:
  std::uint64_t before_ = allocations();
};

}  // namespace steertag::bench
