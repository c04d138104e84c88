// The programs of the reference server over one storage.
#pragma once

#include <memory>
#include <vector>

#include "server/rpc/program.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

/// NFS versions 3 and 4, and MOUNT version 3. A change that comes in over version 3 waits for the
/// delegations and the grace period of version 4. `storage` must outlive the programs, and these go
/// together.
std::vector<std::unique_ptr<Program>> make_programs(Backend& storage,
                                                    const Nfs4StateOptions& options);

}  // namespace steertag::peer
