// One packet of a capture file.
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture {

/// The type of the packet's first header: values of the LINKTYPE_ registry.
enum class LinkType : std::uint32_t {
  null_loopback = 0,
  ethernet = 1,
  raw_ip = 101,
  openbsd_loopback = 108,
  linux_cooked = 113,
  erf = 197,
  ipv4 = 228,
  ipv6 = 229,
  infiniband = 247,
  linux_cooked_2 = 276,
};

/// A packet's position in a capture. `frame` counts packets from 1, as Wireshark does. 0 is the
/// capture's end.
struct FrameStamp {
  std::uint64_t frame = 0;
  std::int64_t time_ns = 0;  // since 1970-01-01 UTC
  /// An end of the connection recorded it, so the capture's order is the one in which that end took
  /// and sent its packets.
  bool by_an_end = false;
};

struct Packet {
  FrameStamp stamp;
  LinkType link_type = LinkType::ethernet;
  View octets;                 // the captured part; valid during the call that passes it
  std::size_t wire_bytes = 0;  // length of the packet on the wire; more than `octets` if truncated
};

}  // namespace steertag::capture
