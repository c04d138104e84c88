// Limits for capture files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag::capture {

/// Longest packet: the limit of libpcap and Wireshark (262,144). A longer length is damage, and the
/// octets behind it belong to other packets.
inline constexpr std::size_t kMostPacketBytes = std::size_t{256} << 10;
/// Longest pcapng block. Only name resolutions, secrets and custom data come near it. A block is
/// read whole, so this limits the buffer.
inline constexpr std::size_t kMostBlockBytes = std::size_t{64} << 20;
/// Interfaces of one section: more than the obsolete Packet Block can number, and at most 2 MiB.
inline constexpr std::size_t kMostInterfaces = 65536;

}  // namespace steertag::capture
