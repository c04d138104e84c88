// What the observer of a connection sees, and so what rules may conclude from.
#pragma once

#include <string_view>

namespace steertag::conformance {

/// What the observer of a connection can see.
struct Visibility {
  /// Every RDMA Write and Read shows up as an event. Not so beside an adapter that places the
  /// peer's data by itself: then a length is not compared with what was placed.
  bool rdma_operations = true;
  /// What an event's index counts, for texts that name another one: of a capture it is the packet.
  std::string_view index_counts = "event";
};

}  // namespace steertag::conformance
