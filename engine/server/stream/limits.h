// The named limits of a server's plain TCP transport, and why each has its value.
#pragma once

#include <chrono>
#include <cstddef>

#include "endpoint/limits.h"

namespace steertag::peer {

/// Largest record that is taken. kLargestCall has room for the RPC header.
inline constexpr std::size_t kLargestStreamRecord = kLargestCall;
/// The first memory of a record that has not arrived completely; it doubles as octets arrive. Small
/// enough for one on each connection of a server with the default budget.
inline constexpr std::size_t kFirstRecordBytes = 4096;
/// The parts of the memory for records that have not arrived completely. A source is an IPv4
/// address, or the /64 network of an IPv6 address. Connections without a whole record so far get
/// memory while their source has at most one part. The others get it while their source has all
/// parts but one. With the default budget a part is fifteen of the largest records.
inline constexpr std::size_t kRecordParts = 4;
/// Octets read from a socket at a time, into a buffer that all connections share. The largest WRITE
/// takes sixteen reads. A connection that is held back may have to keep this much.
inline constexpr std::size_t kStreamReadBytes = 65536;
/// Reads of one connection before the others have their turn.
inline constexpr int kMostStreamReadsPerTurn = 16;
/// After this time the others have their turn, whatever else one connection has sent: calls differ
/// in what they cost. A turn is one call at least.
inline constexpr std::chrono::milliseconds kTimeSlice{5};
/// Messages of one connection that have not left; further calls are not read meanwhile. As many as
/// the slots that a Linux client uses on one TCP connection at most.
inline constexpr std::size_t kMostQueuedMessages = 256;
/// Pieces of memory that are given to the system at a time (IOV_MAX is 1024).
inline constexpr std::size_t kMostGatheredParts = 256;
/// Outgoing messages that are kept for the next replies, of all connections.
inline constexpr std::size_t kKeptMessages = 64;

/// Waits for a client, after which it loses its connection.
struct StreamTimeouts {
  /// Silence in the middle of a record: several times the retransmission of a lost segment.
  std::chrono::milliseconds mid_record{5000};
  /// From a record's first octet to its last: a mebibyte at 35 KB/s, below which no client can
  /// work.
  std::chrono::milliseconds whole_record{30'000};
  /// Octets to send, and the peer takes none.
  std::chrono::milliseconds unsent{15'000};
};

}  // namespace steertag::peer
