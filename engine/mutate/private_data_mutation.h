// Private data that is odd, damaged or hidden, with what a receiver must take from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/private_data.h"

namespace steertag::mutate {

/// `meaning` is what RFC 8797 wants a receiver to act on; nothing stands for the defaults, as if no
/// private data had come (5.1).
struct PrivateDataVariant {
  std::string name;  // permanent: "private-data.unaligned-3"
  Bytes bytes;
  std::optional<wire::PrivateData> meaning;
};

/// Most octets that any of the variants has; fits the private data of an InfiniBand REQ (56).
inline constexpr std::size_t kMostPrivateDataBytes = 32;

/// Variants of a legal announcement: absent, cut short by 1 to 7 octets, another identifier, the
/// identifier at every unaligned offset and at the very end, other versions, each reserved bit,
/// octets behind it, two announcements, and extreme sizes.
std::vector<PrivateDataVariant> private_data(const wire::PrivateData& legal);

}  // namespace steertag::mutate
