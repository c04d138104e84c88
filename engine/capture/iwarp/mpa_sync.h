// Where in a TCP stream an FPDU begins, if its beginning was not seen (RFC 5044 4, RFC 5041 4).
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture::iwarp {

/// Octets of an FPDU's length field and DDP header; 0 for fewer than three octets.
std::size_t fpdu_header_bytes(View fpdu);

/// What the octets at the beginning of a TCP segment look like.
enum class Alignment : std::uint8_t {
  none,      // they are no FPDU
  fpdu,      // they are
  doubtful,  // they may be: what follows the FPDU, in a later segment, has to look like one as well
};

/// `segment` is followed by `missing` octets that were not captured.
Alignment alignment_of(View segment, std::size_t missing);

/// Whether a length field and a whole DDP header agree in every bit that says something: stricter
/// than receivers are, which ignore reserved bits.
bool looks_like_fpdu(View fpdu);

}  // namespace steertag::capture::iwarp
