// Packets that leave as one: the network cuts them apart again (UDP_SEGMENT).
#pragma once

#include <cstdint>
#include <span>

#include "fabric/net_names.h"
#include "fabric/roce/network/datagrams.h"

namespace steertag::fabric::roce {

/// The run that a queue of packets ends with. Its packets have one destination and one size; only
/// the last may be shorter.
///
/// Linux gives them the IPv4 identifications 0, 1, 2 ... (inet_gso_segment), and the invariant CRC
/// covers the identification. So a packet's place must be known when its CRC is computed. IPv6 has
/// no identification, and a place only tells where a run starts.
class SegmentRun {
 public:
  /// What Linux takes as one: UDP_MAX_SEGMENTS of the oldest kernel, and the octets of a UDP
  /// datagram over IPv4, which are fewer than over IPv6.
  static constexpr std::size_t kMostSegments = 64;
  static constexpr std::size_t kMostBytes = 65507;

  /// The next packet joins the run, or starts another. Returns its place.
  std::uint16_t add(const Address& to, std::size_t bytes);
  /// Whatever comes next starts another.
  void end() { count_ = 0; }

 private:
  bool takes(const Address& to, std::size_t bytes) const;

  Address to_;
  std::size_t size_ = 0;  // of each packet but the last
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
  bool ended_ = false;  // by a shorter packet
};

/// How many of the packets are in the run that they begin with. Each packet's identification is its
/// place.
std::size_t leading_run(std::span<const Outbound> packets);

}  // namespace steertag::fabric::roce
