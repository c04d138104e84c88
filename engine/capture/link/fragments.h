// Puts the fragments of IP packets together, within limits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/datagram.h"

namespace steertag::capture {

/// Packets of which fragments are missing at a time: an RDMA connection has none, and each may take
/// 64 KiB. The oldest is forgotten.
inline constexpr std::size_t kMostFragmentedPackets = 128;
/// Longest packet payload that fragments can make, since its length is 16 bits wide (RFC 791 3.1,
/// RFC 8200 4.5).
inline constexpr std::size_t kMostReassembledBytes = 65535;
/// Packets of the capture after which the rest of the fragments will not come. RFC 791 and 8200
/// give them up to a minute; a capture's times may go backwards, its packets may not.
inline constexpr std::uint64_t kMostFragmentAge = 16384;

/// What the fragments of one packet have in common. The protocol of IPv6 fragments is 0: it may
/// differ among them (RFC 8200 4.5).
struct FragmentKey {
  IpAddress source;
  IpAddress destination;
  std::uint32_t identification = 0;
  std::uint8_t protocol = 0;
  bool operator==(const FragmentKey&) const = default;
};

struct Fragment {
  std::size_t offset = 0;  // in the packet's payload, in octets
  bool more = false;       // it is not the last
  View octets;             // as many as were captured
  std::size_t length = 0;  // on the wire
  std::uint8_t protocol = 0;
};

/// A payload that is complete; `octets` ends where the first missing octet of a cut fragment was.
struct Reassembled {
  View octets;
  std::size_t length = 0;
  std::uint8_t protocol = 0;  // that the first fragment names
};

class Fragments {
 public:
  /// Takes a fragment of packet `frame`; what it completes is valid until the next call. Fragments
  /// that overlap make their packet void (RFC 8200 4.5, RFC 5722), copies of one do not.
  std::optional<Reassembled> add(const FragmentKey& key, const Fragment& fragment,
                                 std::uint64_t frame);
  /// Packets that are not complete.
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
    bool is_void = false;     // it had an overlap; kept so that later fragments are known
    std::uint8_t protocol = 0;
    std::optional<std::size_t> length;          // once the last fragment is there
    std::size_t received = 0;                   // octets on the wire
    std::size_t whole = kMostReassembledBytes;  // octets before the first that was not captured
    std::vector<Range> ranges;                  // by their beginning
    Bytes octets;
  };

  Pending& find(const FragmentKey& key, std::uint64_t frame);
  static bool put(Pending& pending, const Fragment& fragment);

  std::vector<Pending> pending_;  // the oldest first
  Pending complete_;
};

}  // namespace steertag::capture
