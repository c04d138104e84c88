// What grading finds out about single packets, for those who show it packet by packet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/connection.h"
#include "conformance/finding.h"
#include "conformance/message.h"
#include "wire/private_data.h"

namespace steertag::grade {

/// An event by what can be counted in any record of its connection: the `number`th (from 1) of this
/// kind by the actor. After a loss it is not counted as in a live run.
struct EventName {
  trace::Role actor = trace::Role::client;
  std::string_view kind;  // as trace::kind_name
  std::uint64_t number = 0;
};

/// A finding with the packet that it hangs on.
struct FindingNote {
  std::uint64_t connection = 0;  // counted from 1 in the order in which connections showed up
  capture::Place place;
  const conformance::Finding* finding = nullptr;  // valid during the call
  EventName event;
};

/// A Connect, Accept or Reject.
struct OpeningNote {
  std::uint64_t connection = 0;
  capture::Place place;
  trace::Role sender = trace::Role::client;
  bool rejected = false;
  View private_data;
  std::optional<wire::FoundPrivateData> found;
  /// Both sides were seen, and the thresholds are these.
  std::optional<wire::Negotiated> negotiated;
};

/// Segments of chunks that a message offers or returns.
struct ChunkNote {
  enum class Kind : std::uint8_t { read, write, reply } kind = Kind::read;
  std::uint32_t position = 0;  // of a read segment
  wire::Segment segment;
};

inline constexpr std::size_t kChunkKinds = 3;
static_assert(static_cast<std::size_t>(ChunkNote::Kind::reply) + 1 == kChunkKinds);

/// A Send.
struct MessageNote {
  std::uint64_t connection = 0;
  capture::Place place;
  trace::Role sender = trace::Role::client;
  conformance::Kind kind = conformance::Kind::empty;
  std::size_t length_bytes = 0;
  wire::FixedWords words;  // zeros if there are fewer than 16 octets
  std::optional<std::uint32_t> invalidated;
  bool reverse = false;  // of a transaction that the server began (RFC 8167)
  /// The latest packet with the call of this XID, for an answer; 0 if none was seen.
  std::uint64_t call_frame = 0;
  std::int64_t answered_after_ns = 0;
  /// Of the transaction's direction, after this message. Nothing while no grant was seen.
  std::uint64_t calls_in_flight = 0;
  std::optional<std::uint32_t> granted;
  /// Most octets of a Send by this sender; nothing if the connection's beginning was not seen.
  std::optional<std::uint32_t> threshold_bytes;
  std::vector<ChunkNote> chunks;  // at most kMostChunksNoted
  /// With those that are not noted, by ChunkNote::Kind.
  std::array<std::size_t, kChunkKinds> segments{};
  std::size_t segments_in_all() const { return segments[0] + segments[1] + segments[2]; }
};
inline constexpr std::size_t kMostChunksNoted = 64;

/// One segment of an RDMA Write, a Read Request or a segment of a Read Response.
struct OperationNote {
  enum class Kind : std::uint8_t { write, read, read_response } kind = Kind::write;
  std::uint64_t connection = 0;
  capture::Place place;
  trace::Role actor = trace::Role::server;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  /// The outstanding call that offers the memory; 0 if none does or it cannot be told.
  std::uint64_t call_frame = 0;
  std::uint32_t call_xid = 0;
};

struct LossNote {
  std::uint64_t connection = 0;
  capture::Place place;
  trace::Role actor = trace::Role::client;
  capture::LossKind kind = capture::LossKind::missing;
};

/// Takes notes as packets are read; every view in them is valid during the call.
class NoteSink {
 public:
  virtual ~NoteSink() = default;
  virtual void on_opening(const OpeningNote& note) = 0;
  virtual void on_message(const MessageNote& note) = 0;
  virtual void on_operation(const OperationNote& note) = 0;
  virtual void on_loss(const LossNote& note) = 0;
  virtual void on_finding(const FindingNote& note) = 0;
};

}  // namespace steertag::grade
