// Splits a fuzzer's input into packets.
//
// The first octet chooses the link. Each packet has three octets before it: its length, and how
// much more was on the wire.
#pragma once

#include <algorithm>
#include <iterator>

#include "capture/packet.h"
#include "support/bytes.h"

namespace steertag::capture {

inline constexpr LinkType kLinks[] = {LinkType::ethernet,     LinkType::null_loopback,
                                      LinkType::raw_ip,       LinkType::openbsd_loopback,
                                      LinkType::linux_cooked, LinkType::erf,
                                      LinkType::infiniband,   LinkType::linux_cooked_2};

/// Calls `take(packet)` for each packet of a non-empty input. The octets are a copy that lives for
/// the call only. Sanitizers detect any later access, and any beyond the end.
template <class Take>
void each_packet(View input, const Take& take) {
  const LinkType link = kLinks[std::to_integer<std::size_t>(input[0]) % std::size(kLinks)];
  View rest = input.subspan(1);
  for (std::uint64_t frame = 1; rest.size() >= 3; ++frame) {
    const std::size_t length =
        std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
    const std::size_t more = std::to_integer<std::size_t>(rest[2]) * 8;
    rest = rest.subspan(3);
    const Bytes octets(rest.begin(),
                       rest.begin() + static_cast<std::ptrdiff_t>(std::min(length, rest.size())));
    rest = rest.subspan(octets.size());
    take(Packet{{frame, static_cast<std::int64_t>(frame)}, link, octets, octets.size() + more});
  }
}

}  // namespace steertag::capture
