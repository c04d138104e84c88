// The programs of the reference server over one storage.
#pragma once

#include <memory>
#include <vector>

#include "server/direct/direct_access.h"
#include "server/rpc/program.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

/// NFS versions 3 and 4, and MOUNT version 3. A change that comes in over version 3 waits for the
/// delegations and the grace period of version 4. `storage` must outlive the programs, and these go
/// together. With `access` there is direct access too, if the storage sees all of its changes.
std::vector<std::unique_ptr<Program>> make_programs(
    Backend& storage, const Nfs4StateOptions& options,
    const std::shared_ptr<DirectAccess>& access = {});

}  // namespace steertag::peer
