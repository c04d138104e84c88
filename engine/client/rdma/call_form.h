// The form of a call (RFC 8166 3.5): what travels inline, and what in read chunks.
// It also says which chunks are offered for the reply.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nfs/reply_size.h"
#include "wire/private_data.h"

namespace steertag::peer {

/// Whether to use a chunk.
enum class Use : std::uint8_t { when_needed, always, never };

/// How a caller wants its message to look. The defaults give the simplest message that works.
struct FormWish {
  Use read_chunk = Use::when_needed;   // for the eligible argument
  Use write_chunk = Use::when_needed;  // for the eligible result
  Use reply_chunk = Use::when_needed;
  Use long_call = Use::when_needed;  // a Position Zero chunk
  /// An eligible item of at least so many octets takes a chunk, even if it fits inline.
  std::size_t chunk_from = SIZE_MAX;
  std::uint32_t segments = 1;          // into which every chunk is divided; 1 .. 16
  bool roundup_in_read_chunk = false;  // RFC 8166 3.4.5.2 allows either
  bool empty_write_chunk = false;      // an empty chunk instead of a filled one (4.3.2.3)
};

/// Sizes of a call in octets.
struct CallSize {
  std::size_t stream = 0;   // the payload stream without the eligible argument
  bool has_item = false;    // the procedure has an eligible argument
  std::size_t item = 0;     // its octets, without roundup
  nfs::ReplySize reply;     // the largest reply
  std::size_t results = 1;  // eligible ones, each with a write chunk
};

struct CallForm {
  bool possible = true;  // false: the header alone does not fit the threshold
  bool read_chunk = false;
  bool long_call = false;
  bool write_chunk = false;
  bool reply_chunk = false;
  std::size_t write_chunk_bytes = 0;
  std::size_t reply_chunk_bytes = 0;
};

/// RFC 8166 3.5.3, 4.3.3. `wish.never` is obeyed only where the message then still works.
CallForm choose_form(const CallSize& size, const FormWish& wish, const wire::Negotiated& limits);

}  // namespace steertag::peer
