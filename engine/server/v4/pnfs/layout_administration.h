// What happens to all layouts at once, because an administrator wants it or a data server moves.
#pragma once

#include <functional>
#include <memory>

#include "server/storage/backend.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/state/bulk_recalls.h"

namespace steertag::peer {

class LayoutAdministration {
 public:
  /// `state` and `storage` must outlive it. `random` gives device IDs.
  LayoutAdministration(Nfs4State& state, const Backend& storage,
                       std::shared_ptr<DataServers> data_servers,
                       std::function<std::uint64_t()> random)
      : state_(state),
        storage_(storage),
        data_servers_(std::move(data_servers)),
        random_(std::move(random)) {}

  /// CB_LAYOUTRECALL of the file system. Clients may ask for layouts again once theirs are back.
  void recall_file_system();
  /// CB_LAYOUTRECALL of everything. The device is deleted for each client when its layouts are
  /// back, and another one takes its place (RFC 8881 12.2.10).
  void replace_device();
  /// Some data server has other addresses than the device had so far.
  void tell_of_move();

 private:
  BulkScope scope(nfs4::LayoutrecallType type) const;
  void recall(const BulkScope& scope);

  Nfs4State& state_;
  const Backend& storage_;
  std::shared_ptr<DataServers> data_servers_;
  std::function<std::uint64_t()> random_;
};

}  // namespace steertag::peer
