// What the judge remembers of the messages that a requester sent under one XID.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rpc/auth.h"
#include "wire/header.h"

namespace steertag::conformance {

/// The RPC header of a call as far as rules need it.
struct RpcCall {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  rpc::Wrapping wrapping = rpc::Wrapping::plain;
};

/// Why a message has to be discarded without an answer.
enum class Discard : std::uint8_t { none, too_short, done, error };

/// How far an offered segment was filled by RDMA Writes.
struct Placed {
  std::uint64_t octets = 0;  // sum of what was written, also if written twice
  std::uint64_t end = 0;     // one past the highest octet written
};

/// Entries of lists for which a record keeps room: what calls in use have, many times over. Else a
/// peer could leave room for the largest messages in every record, one after another.
inline constexpr std::size_t kMostIdleEntries = 64;
/// Read segments, write chunks and their segments, and segments of the reply chunk.
std::size_t list_entries(const wire::Header& header);

/// One record per XID and direction. It lives from the first message until the last answer; the
/// vectors keep their capacity in the pool.
struct Call {
  std::uint32_t index = 0;   // in the pool
  std::uint64_t serial = 0;  // tells this use of the record from earlier ones
  std::uint32_t xid = 0;
  std::uint64_t event = 0;   // of the latest message
  std::int64_t time_ns = 0;  // of the latest message; no rule measures with it
  std::uint32_t vers = 0;    // of the latest message

  std::uint32_t messages = 0;  // sent under this XID, without those that must be discarded
  std::uint32_t answers = 0;   // that may still come
  bool faulty = false;         // one of them was so illegal that any reaction may follow
  bool doubtful = false;       // an illegal message may have been the answer
  bool counted = false;        // takes a credit
  bool murky = false;          // what was placed in its memory cannot be told
  Discard discard = Discard::none;

  wire::Header header;         // of the latest message, as far as it was legal
  std::optional<RpcCall> rpc;  // nothing if the RPC header was not in the Send
  std::vector<Placed> placed;  // per segment of the write chunks in order, then the reply chunk
  std::vector<std::uint32_t> offers;
  std::size_t entries = 0;  // list entries of all messages under this XID
  std::uint32_t pending_reads = 0;

  /// The answer can be held against exactly one legal message.
  bool clear() const { return messages == 1 && !faulty && !doubtful; }
  /// As a new record, with what room its lists may keep.
  void reset();
};

}  // namespace steertag::conformance
