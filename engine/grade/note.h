// Facts about single packets, for programs that display a capture packet by packet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/connection.h"
#include "conformance/direct/direct_calls.h"
#include "conformance/direct/optimistic_connection.h"
#include "conformance/finding.h"
#include "conformance/message.h"
#include "wire/private_data.h"

namespace steertag::grade {

/// An event's name, the same in every recording of its connection: the actor's `number`th event of
/// this kind, from 1. After a loss the count differs from a live run's.
struct EventName {
  trace::Role actor = trace::Role::client;
  std::string_view kind;  // as trace::kind_name
  std::uint64_t number = 0;
};

/// A finding and the packet that proves it.
struct FindingNote {
  std::uint64_t connection = 0;  // counted from 1 in order of appearance
  capture::FrameStamp stamp;
  const conformance::Finding* finding = nullptr;  // valid during the call
  EventName event;
};

/// A Connect, Accept or Reject.
struct OpeningNote {
  std::uint64_t connection = 0;
  capture::FrameStamp stamp;
  trace::Role sender = trace::Role::client;
  bool rejected = false;
  View private_data;
  std::optional<wire::FoundPrivateData> found;
  bool optimistic = false;  // of direct access
  /// The thresholds, if both sides were seen.
  std::optional<wire::Negotiated> negotiated;
};

/// A chunk's segment that a message offers or returns.
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
  capture::FrameStamp stamp;
  trace::Role sender = trace::Role::client;
  conformance::Kind kind = conformance::Kind::empty;
  std::size_t length_bytes = 0;
  wire::FixedWords words;  // zeros if there are fewer than 16 octets
  std::optional<std::uint32_t> invalidated;
  bool reverse = false;  // of a transaction that the server started (RFC 8167)
  /// For an answer: the latest packet with the call of this XID; 0 if none was seen.
  std::uint64_t call_frame = 0;
  std::int64_t answered_after_ns = 0;
  /// Of the transaction's direction, after this message. Nothing before the first visible grant.
  std::uint64_t calls_in_flight = 0;
  std::optional<std::uint32_t> granted;
  /// The sender's inline threshold; nothing if the connection's beginning was not seen.
  std::optional<std::uint32_t> threshold_bytes;
  std::vector<ChunkNote> chunks;  // at most kMostChunksNoted
  /// Including those without a note, by ChunkNote::Kind.
  std::array<std::size_t, kChunkKinds> segments{};
  conformance::DirectMessage direct;
  std::size_t segments_in_all() const { return segments[0] + segments[1] + segments[2]; }
};
inline constexpr std::size_t kMostChunksNoted = 64;

/// The block that an optimistic Read is about, and what became of the Read.
struct BlockNote {
  conformance::ReadState state = conformance::ReadState::waiting;
  std::uint64_t request_frame = 0;
  /// The reply that granted the reference; 0 if no known one has these octets. The next four are
  /// then unknown.
  std::uint64_t grant_frame = 0;
  std::uint32_t file = 0;    // a number for each file handle
  std::string_view handle;   // valid during the call
  std::uint64_t offset = 0;  // of the block in its file
  std::uint32_t length = 0;  // octets of the file in it
};

/// One segment of an RDMA Write, a Read Request, or a segment of a Read Response. Or the fault or
/// refusal that came in place of one.
struct OperationNote {
  enum class Kind : std::uint8_t { write, read, read_response, fault, refusal } kind = Kind::write;
  std::uint64_t connection = 0;
  capture::FrameStamp stamp;
  trace::Role actor = trace::Role::server;
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  /// The outstanding call that offers the memory; 0 if there is none or it is unknown.
  std::uint64_t call_frame = 0;
  std::uint32_t call_xid = 0;
  std::optional<BlockNote> block;  // on an optimistic connection
};

struct LossNote {
  std::uint64_t connection = 0;
  capture::FrameStamp stamp;
  trace::Role actor = trace::Role::client;
  capture::LossKind kind = capture::LossKind::missing;
};

/// Receives notes while packets are read. Views are valid during the call.
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
