// The header of the prototype of 2003 (Callaghan et al. 2003 4) as a value.
//
// It occurs in captures of that time. No current peer speaks it.
#pragma once

#include <vector>

#include "support/bytes.h"
#include "support/expected.h"
#include "wire/fault.h"

namespace steertag::wire {

/// Callaghan et al. 2003 4.4: XID, version and type, without a credit word.
inline constexpr std::size_t kPrototypeFixedBytes = 12;
/// One entry of the chunk list after its presence word.
inline constexpr std::size_t kPrototypeChunkBytes = 20;
/// Callaghan et al. 2003 9.4: the size of every receive, and their number.
inline constexpr std::size_t kPrototypeReceiveBytes = 1024;
inline constexpr std::size_t kPrototypeReceives = 3;
/// Decoder limit for the chunk list. A Send of 256 KiB, far above the prototype's size, cannot hold
/// more.
inline constexpr std::size_t kMostPrototypeChunks = 16384;

/// Callaghan et al. 2003 4.4. The RFCs have another number for RDMA_DONE.
enum class PrototypeType : std::uint32_t { message = 0, done = 1 };

/// One entry of the chunk list, in wire order. `offset` in octets of the RPC message's XDR stream,
/// `length` in octets, and the sender's memory. The receiver pulls it, for calls and for replies.
struct PrototypeChunk {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t handle = 0;
  std::uint64_t address = 0;
  bool operator==(const PrototypeChunk&) const = default;
};

/// A done message has no chunks. Reuse one header for many decodes: its list keeps its capacity.
struct PrototypeHeader {
  std::uint32_t xid = 0;
  std::uint32_t vers = 1;
  PrototypeType type = PrototypeType::message;
  std::vector<PrototypeChunk> chunks;

  /// Callaghan et al. 2003 4.6.2: the first chunk is the RPC message, and none is inline.
  bool is_long() const { return !chunks.empty() && chunks.front().offset == 0; }
  void clear();
  bool operator==(const PrototypeHeader&) const = default;
};

/// Decodes a whole Send strictly. The result is the RPC message without its chunks, a view into
/// `message`. It is empty for a done message and for a long one. On a fault `header` has what was
/// read before it.
///
/// - `bad_enum`: the type is neither 0 nor 1
/// - `bad_boolean`: a presence word is neither 0 nor 1
/// - `bad_order`, `position_zero_not_first`: the XDR offsets do not ascend (parts of one item share
/// an offset)
/// - `trailing_bytes`: octets after a done message, or after the list of a long one
///
/// Any version is accepted, because no document defines one. The RPC message is not decoded.
Expected<View, Fault> decode(View message, PrototypeHeader& header);

/// Appends the header to `out`; the caller appends the RPC message. Never fails, and does not sort:
/// a descending list is written as it is.
void encode(const PrototypeHeader& header, Bytes& out);

/// Octets that `encode` will append.
std::size_t encoded_size(const PrototypeHeader& header);

}  // namespace steertag::wire
