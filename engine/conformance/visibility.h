// What the observer of a connection can see; rules conclude from nothing else.
#pragma once

#include <string_view>

namespace steertag::conformance {

/// What the observer of a connection can see.
struct Visibility {
  /// Every RDMA Write and Read gives an event. An adapter that places the peer's data gives none.
  /// Then returned lengths are not compared with placed octets.
  bool rdma_operations = true;
  /// The unit of an event's index in texts; in a capture it is the packet.
  std::string_view index_counts = "event";
};

}  // namespace steertag::conformance
