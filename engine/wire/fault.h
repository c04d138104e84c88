// A fault of a received message: one code, the offset, and the field.
//
// The field is the one that was being read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steertag::wire {

enum class FaultCode : std::uint8_t {
  none,
  truncated,       // the message ends inside the field
  bad_boolean,     // a presence or boolean word is neither 0 nor 1 (RFC 4506 4.4)
  bad_count,       // a count exceeds the message or the named limit
  bad_enum,        // an enumeration or union discriminant has no such value
  bad_padding,     // roundup octets are not zero (RFC 4506 3)
  bad_string,      // a string that the upper layer cannot accept (embedded NUL, empty name)
  too_short,       // shorter than the smallest header of 28 octets (RFC 8166 4.5)
  bad_version,     // rdma_vers is not 1 (RFC 8166 4.2.2)
  bad_procedure,   // rdma_proc has no such value (RFC 8166 4.2.4)
  bad_position,    // a read segment's position is not a multiple of four (RFC 8166 3.4.5)
  no_chunk,        // RDMA_NOMSG without any chunk (RFC 8166 4.5.2)
  bad_error_code,  // rdma_err is neither ERR_VERS nor ERR_CHUNK (RFC 8166 4.1.2)
  trailing_bytes,  // octets follow where the message must end
  limit_exceeded,  // a list is longer than the decoder's named limit
  bad_order,       // XDR offsets of a prototype's chunk list descend (Callaghan et al. 2003 4)
  position_zero_not_first,  // XDR offset zero comes after another chunk (Callaghan et al.
                            // 2003 4.6.2)
};

/// The chunk list of a transport header with the fault.
enum class ChunkList : std::uint8_t { none, read, write, reply };

/// One sentence about the code, without the place.
std::string_view sentence(FaultCode code);

/// The code's own name: "bad_count".
std::string_view code_name(FaultCode code);

/// A decoding error. `offset` is in octets from the start of the decoder's buffer, and is that of
/// the bad field. `field` is the RFC's name of the field, for display. `list` is the chunk list
/// that does not decode, if it is one.
struct Fault {
  FaultCode code = FaultCode::none;
  std::size_t offset = 0;
  std::string_view field;
  ChunkList list = ChunkList::none;

  explicit operator bool() const { return code != FaultCode::none; }
  /// "offset 44, read list position: position is not a multiple of four"
  std::string message() const;
};

}  // namespace steertag::wire
