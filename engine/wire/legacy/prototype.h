// The header of the prototype of 2003 (Callaghan et al. 2003 4) as a value: what captures of that
// time hold, and what such a peer would send. No peer of today speaks it.
#pragma once

#include <vector>

#include "support/bytes.h"
#include "support/expected.h"
#include "wire/fault.h"

namespace steertag::wire {

/// Callaghan et al. 2003 4.4: XID, version and type; there is no credit word.
inline constexpr std::size_t kPrototypeFixedBytes = 12;
/// One entry of the chunk list behind its presence word.
inline constexpr std::size_t kPrototypeChunkBytes = 20;
/// Callaghan et al. 2003 9.4: every receive has this size, and there are so many of them.
inline constexpr std::size_t kPrototypeReceiveBytes = 1024;
inline constexpr std::size_t kPrototypeReceives = 3;
/// Decoder limit on the chunk list; a Send of 256 KiB, far above the prototype's, cannot hold more.
inline constexpr std::size_t kMostPrototypeChunks = 16384;

/// Callaghan et al. 2003 4.4. The number of RDMA_DONE is another one in the RFCs.
enum class PrototypeType : std::uint32_t { message = 0, done = 1 };

/// One entry of the chunk list, in the order of the wire: `offset` in octets of the RPC message's
/// XDR stream, `length` in octets, the sender's memory. The receiver pulls it, of calls and
/// replies.
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

/// Decodes a whole Send strictly. On success the result is the RPC message without its chunks, a
/// view into `message`: empty for a done message and for a long one. On a fault `header` holds what
/// was read before it. `bad_enum`: the type is neither 0 nor 1; `bad_boolean`: so is a presence
/// word; `bad_order`, `late_zero`: the XDR offsets do not ascend (several chunks may have one
/// offset: the parts of one item); `trailing_bytes`: octets behind a done message, or behind the
/// list of a long one. The version may be any number, because no document gives it one, and what
/// the RPC message holds is not looked at.
Expected<View, Fault> decode(View message, PrototypeHeader& header);

/// Appends the header to `out`; the RPC message follows by appending it. Never fails, and orders
/// nothing: a list that descends is written so.
void encode(const PrototypeHeader& header, Bytes& out);

/// Octets that `encode` will append.
std::size_t encoded_size(const PrototypeHeader& header);

}  // namespace steertag::wire
