// Reasons of a REJ (InfiniBand specification 12.6.7.2).
#pragma once

#include <cstdint>
#include <string_view>

namespace steertag::rdma::infiniband {

/// Those that an end over RoCE sends or understands.
inline constexpr std::uint16_t kRejectedForQueuePairs = 1;  // none is available
inline constexpr std::uint16_t kRejectedForResources = 3;
inline constexpr std::uint16_t kRejectedForTimeout = 4;
inline constexpr std::uint16_t kRejectedAsUnsupported = 5;
inline constexpr std::uint16_t kRejectedForId = 6;  // communication id
inline constexpr std::uint16_t kRejectedForService = 8;
inline constexpr std::uint16_t kRejectedForServiceType = 9;
inline constexpr std::uint16_t kRejectedAsStale = 10;
inline constexpr std::uint16_t kRejectedForGid = 12;
inline constexpr std::uint16_t kRejectedForMtu = 26;
inline constexpr std::uint16_t kRejectedForResponderResources = 27;
inline constexpr std::uint16_t kRejectedByConsumer = 28;
inline constexpr std::uint16_t kRejectedForRnrRetry = 29;
inline constexpr std::uint16_t kRejectedAsDuplicate = 30;  // the same communication id twice

/// Part of a sentence: "the service id is invalid" ..., or "another reason".
std::string_view reject_reason(std::uint16_t reason);

}  // namespace steertag::rdma::infiniband
