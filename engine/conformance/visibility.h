// What the observer of a connection sees, and so what rules may conclude from.
#pragma once

namespace steertag::conformance {

/// What the observer of a connection can see.
struct Visibility {
  /// Every RDMA Write and Read shows up as an event. Not so beside an adapter that places the
  /// peer's data by itself: then a length is not compared with what was placed.
  bool rdma_operations = true;
};

}  // namespace steertag::conformance
