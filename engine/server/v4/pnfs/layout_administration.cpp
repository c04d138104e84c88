// Bulk recalls and changes of the device.
#include "server/v4/pnfs/layout_administration.h"

#include "server/v4/state/device_notices.h"

namespace steertag::peer {

using nfs4::LayoutrecallType;

BulkScope LayoutAdministration::scope(LayoutrecallType type) const {
  BulkScope scope;
  scope.type = type;
  // RFC 8881 20.3.3: behind another device there may be other servers, so that nothing more is
  // written to these.
  scope.changed = type == LayoutrecallType::LAYOUTRECALL4_ALL;
  scope.waits = data_servers_->policy().bulk_waits;
  if (const auto root = storage_.attributes(storage_.root()))
    scope.fsid.major = root->filesystem_id;
  return scope;
}

void LayoutAdministration::recall(const BulkScope& scope) {
  StateTables& tables = state_.tables();
  for (const auto& [id, client] : tables.clients) start_bulk_recall(tables, *client, scope);
}

void LayoutAdministration::recall_file_system() {
  recall(scope(LayoutrecallType::LAYOUTRECALL4_FSID));
}

void LayoutAdministration::replace_device() {
  const nfs4::DeviceId before = data_servers_->device();
  if (data_servers_->policy().replaces_device_id) data_servers_->replace_device(random_);
  recall(scope(LayoutrecallType::LAYOUTRECALL4_ALL));
  delete_device(state_.tables(), before);
  announce_deletions(state_.tables());
}

void LayoutAdministration::tell_of_move() {
  if (!data_servers_->policy().tells_of_moves) return;
  tell_change(state_.tables(), data_servers_->device(),
              scope(LayoutrecallType::LAYOUTRECALL4_FSID));
}

}  // namespace steertag::peer
