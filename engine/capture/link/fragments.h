// Reassembles the fragments of IP packets, within limits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/datagram.h"

namespace steertag::capture {

/// At most this many incomplete packets; beyond that the oldest is evicted. An RDMA connection has
/// none, and each may take 64 KiB.
inline constexpr std::size_t kMostFragmentedPackets = 128;
/// Longest payload of a fragmented packet: its length has 16 bits (RFC 791 3.1, RFC 8200 4.5).
inline constexpr std::size_t kMostReassembledBytes = 65535;
/// Missing fragments are lost after this many packets of the capture. RFC 791 and RFC 8200 allow up
/// to a minute. A capture's times may go backwards, and its frame numbers do not.
inline constexpr std::uint64_t kMostFragmentAge = 16384;

/// The fields that all fragments of a packet share. The protocol of IPv6 fragments is 0, since it
/// may differ among them (RFC 8200 4.5).
struct FragmentKey {
  IpAddress source;
  IpAddress destination;
  std::uint32_t identification = 0;
  std::uint8_t protocol = 0;
  bool operator==(const FragmentKey&) const = default;
};

struct Fragment {
  std::size_t offset = 0;  // in the packet's payload, in octets
  bool more = false;       // it is not the last fragment
  View octets;             // the captured part
  std::size_t length = 0;  // on the wire
  std::uint8_t protocol = 0;
};

/// A complete payload. `octets` ends at the first missing octet of a truncated fragment.
struct Reassembled {
  View octets;
  std::size_t length = 0;
  std::uint8_t protocol = 0;  // from the first fragment
};

class Fragments {
 public:
  /// Takes a fragment of packet `frame`. A completed payload is valid until the next call.
  /// Overlapping fragments make their packet void (RFC 8200 4.5, RFC 5722); duplicates do not.
  std::optional<Reassembled> add(const FragmentKey& key, const Fragment& fragment,
                                 std::uint64_t frame);
  /// Incomplete packets.
  std::size_t open() const { return pending_.size(); }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const Range&) const = default;
  };
  struct Pending {
    FragmentKey key;
    std::uint64_t frame = 0;  // of its first fragment
    bool is_void = false;     // it had an overlap; kept to recognize later fragments
    std::uint8_t protocol = 0;
    std::optional<std::size_t> length;          // known from the last fragment
    std::size_t received = 0;                   // octets on the wire
    std::size_t whole = kMostReassembledBytes;  // octets before the first missing one
    std::vector<Range> ranges;                  // by offset
    Bytes octets;
  };

  Pending& find(const FragmentKey& key, std::uint64_t frame);
  static bool put(Pending& pending, const Fragment& fragment);

  std::vector<Pending> pending_;  // oldest first
  Pending complete_;
};

}  // namespace steertag::capture
