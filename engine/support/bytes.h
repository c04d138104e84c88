// The byte types that every layer shares: owned bytes, read-only views and writable views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace steertag {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;
using MutableView = std::span<std::byte>;

}  // namespace steertag
