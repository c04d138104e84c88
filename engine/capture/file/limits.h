// What is read of a capture file at most.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag::capture {

/// Longest packet: the longest that libpcap records and Wireshark reads (262,144). A longer length
/// is damage, and following it would take octets of other packets for this one.
inline constexpr std::size_t kMostPacketBytes = std::size_t{256} << 10;
/// Longest pcapng block. Only name resolutions, secrets and custom data come near to it; it bounds
/// the buffer, since a block is read whole.
inline constexpr std::size_t kMostBlockBytes = std::size_t{64} << 20;
/// Interfaces of one section: more than the obsolete Packet Block can number, and 2 MiB at most.
inline constexpr std::size_t kMostInterfaces = 65536;

}  // namespace steertag::capture
