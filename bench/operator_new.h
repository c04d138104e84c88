// Counts the allocations of the benchmark program.
// With this count a benchmark shows that its steady state has none.
#pragma once

#include <cstdint>

namespace steertag::bench {

/// Allocations of this process so far, by any form of operator new.
std::uint64_t allocations();

}  // namespace steertag::bench
