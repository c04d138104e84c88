// How the octets of files are striped over data servers.
#include "server/v4/pnfs/stripe_pattern.h"

#include <algorithm>

namespace steertag::peer {

Expected<void, std::string> check_pattern(const StripePattern& pattern) {
  if (pattern.count < 1 || pattern.count > kMostDataServers)
    return Unexpected<std::string>("a server has 1 to " + std::to_string(kMostDataServers) +
                                   " data servers");
  if (pattern.turns < 1 || pattern.turns > kMostStripeUnits / pattern.count)
    return Unexpected<std::string>("a stripe has 1 to " +
                                   std::to_string(kMostStripeUnits / pattern.count) + " turns of " +
                                   std::to_string(pattern.count) + " data servers");
  if (pattern.turns > 1 && !pattern.dense)
    return Unexpected<std::string>(
        "more than one stripe unit of a data server in a stripe needs dense packing");
  if (pattern.unit_bytes < nfs4::kLeastStripeUnit || pattern.unit_bytes > kMostStripeUnit ||
      nfs4::stripe_unit(pattern.unit_bytes) != pattern.unit_bytes)
    return Unexpected<std::string>("a stripe unit has a multiple of " +
                                   std::to_string(nfs4::kLeastStripeUnit) + " octets, at most " +
                                   std::to_string(kMostStripeUnit));
  return {};
}

Component::Run Component::at(std::uint64_t offset) const {
  const std::uint64_t unit = pattern_.unit_bytes;
  const std::uint64_t within = offset % unit;
  if (!pattern_.dense) return {offset, unit - within};
  const std::uint64_t stripe = offset / unit;
  // One stripe less than fits, so that no sum wraps.
  if (stripe >= ~std::uint64_t{0} / pattern_.stripe_bytes() - 1) return {};
  return {stripe * pattern_.stripe_bytes() + place_ * unit + within, unit - within};
}

bool Component::has(std::uint64_t offset, std::uint64_t length) const {
  if (pattern_.dense || pattern_.count == 1 || length == 0) return true;
  const std::uint64_t unit = pattern_.unit_bytes;
  return offset / unit % pattern_.count == place_ && length <= unit - offset % unit;
}

std::uint64_t Component::size(std::uint64_t file_bytes) const {
  if (!pattern_.dense) return file_bytes;
  const std::uint64_t unit = pattern_.unit_bytes;
  const std::uint64_t rest = file_bytes % pattern_.stripe_bytes();
  const std::uint64_t before = place_ * unit;
  const std::uint64_t part = rest > before ? std::min(rest - before, unit) : 0;
  return file_bytes / pattern_.stripe_bytes() * unit + part;
}

}  // namespace steertag::peer
