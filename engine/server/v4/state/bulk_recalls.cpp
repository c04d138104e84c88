// Recalls of all layouts of a client.
#include "server/v4/state/bulk_recalls.h"

#include <algorithm>

#include "server/v4/state/recalls.h"

namespace steertag::peer {
namespace {

bool has_recall(const Client& client) {
  return std::ranges::any_of(client.layouts,
                             [](const auto& each) { return each.second.recalled.has_value(); });
}

void begin(StateTables& tables, Client& client) {
  start_recall(tables, *client.bulk);
  // No other recall of them begins any more, and data servers let them pass for a lease.
  for (auto& [number, layout] : client.layouts) layout.recalled = client.bulk->recalled;
}

}  // namespace

void start_bulk_recall(StateTables& tables, Client& client, const BulkScope& scope) {
  if (client.layouts.empty() || client.bulk) return;
  const bool waits = scope.waits && has_recall(client);
  BulkRecall& bulk = tables.add_bulk_recall(client);
  bulk.type = scope.type;
  bulk.fsid = scope.fsid;
  bulk.changed = scope.changed;
  if (waits) {
    tables.waiting_bulks.push_back(client.id);
  } else {
    begin(tables, client);
  }
}

void begin_bulk_recalls(StateTables& tables) {
  std::erase_if(tables.waiting_bulks, [&](ClientId id) {
    Client* client = tables.find_client(id);
    if (!client || !client->bulk) return true;
    if (has_recall(*client)) return false;
    if (client->layouts.empty()) {
      client->bulk.reset();
    } else {
      begin(tables, *client);
    }
    return true;
  });
}

void end_bulk_recall(StateTables& tables, Client& client) {
  while (!client.layouts.empty()) tables.remove_layout(client.layouts.begin()->second);
  client.bulk.reset();
}

void revoke_bulk(StateTables& tables, Client& client) {
  for (const auto& [number, layout] : client.layouts) {
    if (client.revoked.size() < kMostRevokedPerClient) client.revoked.insert(number);
  }
  end_bulk_recall(tables, client);
}

}  // namespace steertag::peer
