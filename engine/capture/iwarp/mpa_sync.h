// Finds the start of an FPDU in the middle of a TCP stream (RFC 5044 4, RFC 5041 4).
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture::iwarp {

/// Octets of an FPDU's length field and DDP header; 0 for fewer than three octets.
std::size_t fpdu_header_bytes(View fpdu);

/// The result for octets at the beginning of a TCP segment.
enum class Alignment : std::uint8_t {
  none,      // no FPDU
  fpdu,      // an FPDU
  doubtful,  // perhaps: the next FPDU, in a later segment, must look like one too
};

/// `missing` octets after `segment` were not captured.
Alignment alignment_of(View segment, std::size_t missing);

/// Whether all redundant bits of a length field and a DDP header match. This is stricter than
/// receivers, which ignore reserved bits.
bool looks_like_fpdu(View fpdu);

}  // namespace steertag::capture::iwarp
