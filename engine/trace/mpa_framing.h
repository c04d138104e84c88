// Finds where startup frames and FPDUs end in one direction of an iWARP stream, so that captures
// can show one of them per packet.
#pragma once

#include <optional>

#include "support/bytes.h"

namespace steertag::trace {

/// Follows one direction by lengths alone and judges nothing. A stream that does not look like MPA,
/// or that carries markers, is given back as it comes.
class MpaFraming {
 public:
  /// Length in octets of the unit at the front of `pending` (which is not empty); it may be more
  /// than `pending` holds. Nothing if too few octets are there to tell.
  std::optional<std::size_t> unit_length(View pending) const;
  /// Moves past the unit that `unit_length` measured. `unit` is all of its octets.
  void take(View unit);

  /// Gives up: from now on a unit is whatever is there. For streams with markers.
  void lose() { state_ = State::lost; }
  /// The startup frame that passed asks for markers in the other direction (RFC 5044 7.1).
  bool wants_markers() const { return wants_markers_; }

 private:
  enum class State : std::uint8_t { startup, fpdus, lost };
  State state_ = State::startup;
  bool wants_markers_ = false;
};

}  // namespace steertag::trace
