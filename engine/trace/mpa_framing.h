// Finds the ends of startup frames and FPDUs in one direction of an iWARP stream.
//
// With it captures can have one of them per packet.
#pragma once

#include <optional>

#include "support/bytes.h"

namespace steertag::trace {

/// Follows one direction by lengths alone, without judging. A stream that does not look like MPA,
/// or that has markers, passes unchanged.
class MpaFraming {
 public:
  /// Length in octets of the unit at the front of `pending`, which must not be empty. It may exceed
  /// the size of `pending`. Nothing if there are too few octets.
  std::optional<std::size_t> unit_length(View pending) const;
  /// Moves past the unit of `unit_length`. `unit` has all its octets.
  void take(View unit);

  /// Stops the framing: from now on a unit is whatever is there. For streams with markers.
  void lose() { state_ = State::lost; }
  /// Whether the startup frame asked for markers in the other direction (RFC 5044 7.1).
  bool wants_markers() const { return wants_markers_; }

 private:
  enum class State : std::uint8_t { startup, fpdus, lost };
  State state_ = State::startup;
  bool wants_markers_ = false;
};

}  // namespace steertag::trace
