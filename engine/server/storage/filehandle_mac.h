// The keyed code that makes file handles unforgeable.
#pragma once

#include <cstdint>
#include <span>

namespace steertag::peer {

/// SipHash-2-4 of 64-bit words under a 128-bit key: who does not know the key cannot make a handle
/// that resolves.
std::uint64_t filehandle_mac(std::span<const std::uint64_t, 2> key,
                             std::span<const std::uint64_t> words);

}  // namespace steertag::peer
