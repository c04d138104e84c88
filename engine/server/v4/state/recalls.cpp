// Recalls of delegations and layouts.
#include "server/v4/state/recalls.h"

#include <algorithm>

#include "server/v4/state/bulk_recalls.h"
#include "server/v4/state/device_notices.h"
#include "server/v4/state/session_backchannel.h"

namespace steertag::peer {
namespace {

void revoke(StateTables& tables, RecallableState& state) {
  Client& client = *state.client;
  if (state.callback == nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID) {
    client.notices.erase(state.number);
    return;
  }
  if (!state.file) return revoke_bulk(tables, client);
  if (client.revoked.size() < kMostRevokedPerClient) client.revoked.insert(state.number);
  if (state.callback == nfs4::CbOpnum::OP_CB_LAYOUTRECALL) {
    tables.remove_layout(static_cast<LayoutState&>(state));
  } else {
    tables.remove_delegation(static_cast<DelegationState&>(state));
  }
}

}  // namespace

void note_grant(StateTables& tables, RecallableState& state, const std::optional<SlotInUse>& slot) {
  const Session* session = slot ? tables.find_session(slot->session) : nullptr;
  if (!session) return;
  state.granting_session = slot->session;
  state.granting_slot = slot->slot;
  state.granting_sequence = session->slots[slot->slot].sequence;
}

void start_recall(StateTables& tables, RecallableState& state) {
  state.recalled = tables.now();
  tables.recalls.emplace_back(state.client->id, state.number);
  if (!send_recall(tables, state)) state.next_try = tables.now() + kRecallPause;
}

void process_recalls(StateTables& tables) {
  std::erase_if(tables.recalls, [&](const std::pair<ClientId, StateNumber>& recall) {
    Client* client = tables.find_client(recall.first);
    RecallableState* state =
        client ? StateTables::find_recallable(*client, recall.second) : nullptr;
    if (!state || !state->recalled) return true;
    if (tables.now() - *state->recalled > tables.options.lease) {
      revoke(tables, *state);
      return true;
    }
    const bool due = (!state->calling || state->needs_other_session) && !state->recall_done &&
                     state->next_try <= tables.now();
    if (due && !send_recall(tables, *state)) state->next_try = tables.now() + kRecallPause;
    return false;
  });
  begin_bulk_recalls(tables);
  announce_deletions(tables);
}

}  // namespace steertag::peer
