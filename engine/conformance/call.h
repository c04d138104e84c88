// The judge's record of the messages that a requester sent under one XID.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rpc/auth.h"
#include "wire/header.h"

namespace steertag::conformance {

/// The fields of a call's RPC header that rules need.
struct RpcCall {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  rpc::Wrapping wrapping = rpc::Wrapping::plain;
};

/// Why a message must be discarded without an answer.
enum class Discard : std::uint8_t { none, too_short, done, error };

/// How much of an offered segment RDMA Writes filled.
struct Placed {
  std::uint64_t octets = 0;  // sum of the octets written; octets written twice count twice
  std::uint64_t end = 0;     // one past the highest octet written
};

/// A record keeps room for this many list entries, many times more than calls in use have. Without
/// it a peer could reserve room for the largest messages in every record.
inline constexpr std::size_t kMostIdleEntries = 64;
/// Read segments, write chunks and their segments, and segments of the reply chunk.
std::size_t list_entries(const wire::Header& header);

/// One record per XID and direction. It lives from the first message to the last answer. The
/// vectors keep their capacity in the pool.
struct Call {
  std::uint32_t index = 0;   // in the pool
  std::uint64_t serial = 0;  // distinguishes this use of the record from earlier ones
  std::uint32_t xid = 0;
  std::uint64_t event = 0;   // of the latest message
  std::int64_t time_ns = 0;  // of the latest message; no rule measures with it
  std::uint32_t vers = 0;    // of the latest message

  std::uint32_t messages = 0;      // sent under this XID, except those that must be discarded
  std::uint32_t answers = 0;       // that may still come
  bool faulty = false;             // one of them was so illegal that any reaction is allowed
  bool doubtful = false;           // an illegal message may have been the answer
  bool counted = false;            // occupies a credit
  bool placement_unknown = false;  // the octets placed in its memory are unknown
  Discard discard = Discard::none;

  wire::Header header;         // of the latest message, its legal part
  std::optional<RpcCall> rpc;  // nothing if the RPC header was not in the Send
  std::vector<Placed> placed;  // per segment of the write chunks in order, then the reply chunk
  std::vector<std::uint32_t> segments;  // ids of the SegmentTable
  std::size_t entries = 0;              // list entries of all messages under this XID
  std::uint32_t pending_reads = 0;

  /// Exactly one legal message was sent, so its answer can be judged.
  bool clear() const { return messages == 1 && !faulty && !doubtful; }
  /// Makes it a new record. Its lists keep a limited capacity.
  void reset();
};

}  // namespace steertag::conformance
