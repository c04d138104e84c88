// Recalls of all layouts of a client, or of those of a file system (RFC 8881 12.5.5.2.1.5).
#pragma once

#include "server/v4/state/tables.h"

namespace steertag::peer {

/// What a bulk recall is of. There is one file system with layouts, so that each is of all layouts
/// of a client.
struct BulkScope {
  nfs4::LayoutrecallType type = nfs4::LayoutrecallType::LAYOUTRECALL4_ALL;
  nfs4::Fsid fsid{};
  bool changed = false;  // clora_changed
  bool waits = true;     // for other recalls; false breaks RFC 8881 12.5.5.2.1.5
};

/// Recalls all layouts of the client, at once or when no other recall of its layouts is pending.
/// Does nothing without layouts.
void start_bulk_recall(StateTables& tables, Client& client, const BulkScope& scope);
/// Begins those that have waited.
void begin_bulk_recalls(StateTables& tables);

/// Whether CB_LAYOUTRECALL of all layouts was sent, or is about to be, and is not over.
inline bool is_in_bulk_recall(const Client& client) {
  return client.bulk && client.bulk->recalled;
}

/// All layouts are back, and what is left of them is freed.
void end_bulk_recall(StateTables& tables, Client& client);
/// They are not, and the lease since the recall is over.
void revoke_bulk(StateTables& tables, Client& client);

}  // namespace steertag::peer
