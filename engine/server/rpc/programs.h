// The programs of the reference server over one storage.
#pragma once

#include <memory>
#include <vector>

#include "server/direct/direct_access.h"
#include "server/rpc/program.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

/// The programs of a server, and the state of version 4 among them.
struct Programs {
  std::vector<std::unique_ptr<Program>> all;
  Nfs4State* state = nullptr;  // lives as long as they
  /// Of a metadata server: what its data servers ask, as long as the programs live.
  std::shared_ptr<LayoutAuthority> authority{};
};

/// NFS versions 3 and 4, and MOUNT version 3. A change that comes in over version 3 waits for the
/// delegations and the grace period of version 4. `storage` must outlive the programs, and these go
/// together. With `access` there is direct access too, if the storage sees all of its changes.
std::vector<std::unique_ptr<Program>> make_programs(
    Backend& storage, const Nfs4StateOptions& options,
    const std::shared_ptr<DirectAccess>& access = {});

/// The same with version 4 as the metadata server of pNFS. With `own_index` it is the data server
/// of this index too.
Programs make_metadata_server(Backend& storage, const Nfs4StateOptions& options,
                              const std::shared_ptr<const DataServers>& data_servers,
                              const std::shared_ptr<DirectAccess>& access = {},
                              std::optional<std::uint32_t> own_index = {});
/// The program of one of its data servers.
std::vector<std::unique_ptr<Program>> make_data_server(
    Backend& storage, const Nfs4StateOptions& options,
    const std::shared_ptr<const DataServers>& data_servers, std::uint32_t index,
    std::shared_ptr<LayoutAuthority> authority);

}  // namespace steertag::peer
