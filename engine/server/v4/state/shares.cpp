// Share reservations.
#include "server/v4/state/shares.h"

#include <algorithm>

namespace steertag::peer {
namespace {

constexpr std::uint32_t kBoth = 3;  // the bits of access and of deny

std::uint16_t combination(std::uint32_t access, std::uint32_t deny) {
  return static_cast<std::uint16_t>(1U << (access + 4 * deny));
}

/// Calls `visit(access, deny, bit)` for each combination within the given one.
template <class Visit>
void within(std::uint32_t access, std::uint32_t deny, Visit&& visit) {
  for (std::uint32_t a = 1; a <= kBoth; ++a) {
    for (std::uint32_t d = 0; d <= kBoth; ++d) {
      if ((a & ~access) == 0 && (d & ~deny) == 0) visit(a, d, combination(a, d));
    }
  }
}

}  // namespace

bool shares_conflict(const File& file, std::uint32_t access, std::uint32_t deny) {
  return std::ranges::any_of(file.opens, [&](const OpenState* open) {
    return (open->deny & access) != 0 || (open->access & deny) != 0;
  });
}

bool denied_to(const File& file, const OpenOwner* owner, std::uint32_t access) {
  return std::ranges::any_of(file.opens, [&](const OpenState* open) {
    return open->owner != owner && (open->deny & access) != 0;
  });
}

void add_share(OpenState& open, std::uint32_t access, std::uint32_t deny) {
  open.access |= access;
  open.deny |= deny;
  open.combinations |= combination(access, deny);
}

bool may_downgrade(const OpenState& open, std::uint32_t access, std::uint32_t deny) {
  std::uint32_t united_access = 0;
  std::uint32_t united_deny = 0;
  within(access, deny, [&](std::uint32_t a, std::uint32_t d, std::uint16_t bit) {
    if ((open.combinations & bit) == 0) return;
    united_access |= a;
    united_deny |= d;
  });
  return united_access == access && united_deny == deny;
}

void downgrade(OpenState& open, std::uint32_t access, std::uint32_t deny) {
  std::uint16_t kept = 0;
  within(access, deny, [&](std::uint32_t, std::uint32_t, std::uint16_t bit) {
    kept = static_cast<std::uint16_t>(kept | bit);
  });
  open.access = access;
  open.deny = deny;
  open.combinations = static_cast<std::uint16_t>(open.combinations & kept);
}

}  // namespace steertag::peer
