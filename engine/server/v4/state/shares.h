// Share reservations (RFC 7530 9.9, RFC 8881 9.7): which opens go together.
#pragma once

#include "server/v4/state/tables.h"

namespace steertag::peer {

/// Whether an OPEN of `access` with `deny` conflicts with an open of the file. Opens of the same
/// owner count too (RFC 7530 9.9, RFC 8881 9.7).
bool shares_conflict(const File& file, std::uint32_t access, std::uint32_t deny);
/// Whether an open of another owner than `owner` denies `access`. nullptr: of any owner.
bool denied_to(const File& file, const OpenOwner* owner, std::uint32_t access);

/// Adds an OPEN to what the open state stands for: the union of all.
void add_share(OpenState& open, std::uint32_t access, std::uint32_t deny);
/// Whether `access` with `deny` is what some of the OPENs ask for together, as OPEN_DOWNGRADE needs
/// (RFC 8881 18.18.3).
bool may_downgrade(const OpenState& open, std::uint32_t access, std::uint32_t deny);
void downgrade(OpenState& open, std::uint32_t access, std::uint32_t deny);

}  // namespace steertag::peer
