// CB_NOTIFY_DEVICEID, and to whom.
#include "server/v4/state/device_notices.h"

#include <algorithm>

#include "nfs/v4/device_notification.h"
#include "server/v4/state/recalls.h"
#include "server/v4/state/session_backchannel.h"

namespace steertag::peer {
namespace {

void tell(StateTables& tables, Client& client, const nfs4::DeviceId& device, std::uint32_t type) {
  const bool waits = std::ranges::any_of(client.notices, [&](const auto& each) {
    const DeviceNotice& notice = each.second;
    return notice.device == device && notice.type == type && !notice.calling;
  });
  if (waits || client.notices.size() >= kMostNoticesPerClient) return;
  DeviceNotice& notice = tables.add_notice(client);
  notice.device = device;
  notice.type = type;
  start_recall(tables, notice);
}

void await_deletion(StateTables& tables, const Client& client) {
  if (std::ranges::find(tables.deleting, client.id) == tables.deleting.end())
    tables.deleting.push_back(client.id);
}

/// False: some are not deleted yet.
bool announce_deletions_to(StateTables& tables, Client& client) {
  bool all = true;
  for (auto at = client.interests.begin(); at != client.interests.end();) {
    const auto& [device, interest] = *at;
    if (!interest.is_deleted) {
      ++at;
    } else if (uses_device(client, device)) {
      all = false;
      ++at;
    } else {
      if (interest.deletion) tell(tables, client, device, nfs4::NOTIFY_DEVICEID4_DELETE);
      at = client.interests.erase(at);
    }
  }
  return all;
}

}  // namespace

nfs4::Bitmap note_interest(StateTables& tables, Client& client, const nfs4::DeviceId& device,
                           const nfs4::Bitmap& asked, bool is_current) {
  DeviceInterest interest;
  interest.is_deleted = !is_current;
  if (has_backchannel(tables, client, nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID)) {
    interest.change = asked.test(nfs4::NOTIFY_DEVICEID4_CHANGE);
    interest.deletion = asked.test(nfs4::NOTIFY_DEVICEID4_DELETE);
  }
  nfs4::Bitmap granted;
  if (interest.change) granted.set(nfs4::NOTIFY_DEVICEID4_CHANGE);
  if (interest.deletion) granted.set(nfs4::NOTIFY_DEVICEID4_DELETE);
  if (granted.none()) {
    client.interests.erase(device);
  } else {
    client.interests[device] = interest;
    if (interest.is_deleted) await_deletion(tables, client);
  }
  return granted;
}

bool uses_device(const Client& client, const nfs4::DeviceId& device) {
  return std::ranges::any_of(client.layouts,
                             [&](const auto& each) { return each.second.device == device; });
}

void tell_change(StateTables& tables, const nfs4::DeviceId& device, const BulkScope& scope) {
  for (const auto& [id, client] : tables.clients) {
    const auto interest = client->interests.find(device);
    if (interest != client->interests.end() && interest->second.change) {
      tell(tables, *client, device, nfs4::NOTIFY_DEVICEID4_CHANGE);
    } else if (uses_device(*client, device)) {
      start_bulk_recall(tables, *client, scope);
    }
  }
}

void delete_device(StateTables& tables, const nfs4::DeviceId& device) {
  for (const auto& [id, client] : tables.clients) {
    const auto interest = client->interests.find(device);
    if (interest == client->interests.end()) continue;
    interest->second.is_deleted = true;
    await_deletion(tables, *client);
  }
}

void announce_deletions(StateTables& tables) {
  std::erase_if(tables.deleting, [&](ClientId id) {
    Client* client = tables.find_client(id);
    return !client || announce_deletions_to(tables, *client);
  });
}

}  // namespace steertag::peer
