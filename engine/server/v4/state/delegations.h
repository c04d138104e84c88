// Read delegations (RFC 8881 10.4): when one is granted and recalled.
#pragma once

#include "server/v4/state/tables.h"

namespace steertag::peer {

/// A delegation that `client` may have on `file` with an OPEN for reading only; or why there is
/// none. `share_access` is that of the OPEN. Without a delegation the result is OPEN_DELEGATE_NONE,
/// or OPEN_DELEGATE_NONE_EXT if the client asked for the reason (RFC 8881 18.16.3). Minor version 0
/// never has one. That would take a callback path of its own, and RFC 7530 10.4 does not require
/// delegations. `slot` is that of the OPEN's request.
nfs4::Delegation grant_delegation(StateTables& tables, Client& client, File& file,
                                  std::uint32_t share_access, const std::optional<SlotInUse>& slot);

/// Recalls what others than `client` have on the file. True when there is something to wait for.
bool recall_delegations(StateTables& tables, File& file, std::optional<ClientId> client);

}  // namespace steertag::peer
