// Unusual, damaged or hidden private data, with the meaning that a receiver must find.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/private_data.h"

namespace steertag::mutate {

/// `meaning` is what a receiver must act on under RFC 8797. Nothing means the defaults, as without
/// private data (5.1).
struct PrivateDataVariant {
  std::string name;  // permanent: "private-data.unaligned-3"
  Bytes bytes;
  std::optional<wire::PrivateData> meaning;
};

/// The longest variant; fits the private data of an InfiniBand REQ (56).
inline constexpr std::size_t kMostPrivateDataBytes = 32;

/// Variants of a legal announcement:
/// - absent, or 1 to 7 octets too short
/// - another identifier, or the identifier at every unaligned offset and at the very end
/// - other versions, and each reserved bit
/// - followed by octets, doubled, and of extreme sizes
std::vector<PrivateDataVariant> private_data(const wire::PrivateData& legal);

/// The variant of that name, or nothing if there is none.
std::optional<PrivateDataVariant> private_data(const wire::PrivateData& legal,
                                               std::string_view name);

}  // namespace steertag::mutate
