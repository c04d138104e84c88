// Read delegations.
#include "server/v4/state/delegations.h"

#include <algorithm>

#include "server/v4/state/session_backchannel.h"

namespace steertag::peer {
namespace {

using nfs4::DelegationType;
using nfs4::WhyNoDelegation;

std::optional<WhyNoDelegation> why_not(StateTables& tables, const Client& client, const File& file,
                                       std::uint32_t share_access) {
  const std::uint32_t wish = share_access & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  if (wish == nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG) return WhyNoDelegation::WND4_NOT_WANTED;
  if (wish == nfs4::OPEN4_SHARE_ACCESS_WANT_CANCEL) return WhyNoDelegation::WND4_CANCELLED;
  if (client.minorversion == 0 || !has_backchannel(tables, client) ||
      !tables.has_room_for_state(client) || client.delegations.size() >= kMostDelegationsPerClient)
    return WhyNoDelegation::WND4_RESOURCE;
  const bool written = std::ranges::any_of(file.opens, [](const OpenState* open) {
    return (open->access & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0;
  });
  const bool recalled = std::ranges::any_of(
      file.delegations, [](const DelegationState* each) { return each->recalled.has_value(); });
  if (written || recalled || file.contended_until > tables.now())
    return WhyNoDelegation::WND4_CONTENTION;
  return std::nullopt;
}

void revoke(StateTables& tables, DelegationState& delegation) {
  Client& client = *delegation.client;
  if (client.revoked.size() < kMostRevokedPerClient) client.revoked.insert(delegation.number);
  tables.remove_delegation(delegation);
}

}  // namespace

nfs4::Delegation grant_delegation(StateTables& tables, Client& client, File& file,
                                  std::uint32_t share_access,
                                  const std::optional<SlotInUse>& slot) {
  nfs4::Delegation granted;
  const std::uint32_t wish = share_access & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  const auto why = why_not(tables, client, file, share_access);
  const bool had = std::ranges::any_of(
      file.delegations, [&](const DelegationState* each) { return each->client == &client; });
  // RFC 8881 10.4: one delegation a client and file; an OPEN under it gets no second one.
  if (why || had) {
    if (client.minorversion > 0 && wish != nfs4::OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE) {
      granted.delegation_type = DelegationType::OPEN_DELEGATE_NONE_EXT;
      granted.od_whynone.ond_why = why.value_or(WhyNoDelegation::WND4_NOT_SUPP_UPGRADE);
    }
    return granted;
  }
  DelegationState& made = tables.add_delegation(client, file);
  if (Session* session = slot ? tables.find_session(slot->session) : nullptr) {
    made.granting_session = slot->session;
    made.granting_slot = slot->slot;
    made.granting_sequence = session->slots[slot->slot].sequence;
  }
  granted.delegation_type = DelegationType::OPEN_DELEGATE_READ;
  granted.read.stateid = tables.stateid(client, made.number, made.seqid);
  // `permissions` spares ACCESS calls for those that it names. It names no user, so that the client
  // asks.
  granted.read.permissions = {};
  return granted;
}

bool recall_delegations(StateTables& tables, File& file, std::optional<ClientId> client) {
  bool waiting = false;
  bool contends = false;
  for (DelegationState* each : file.delegations) {
    if (client && each->client->id == *client) continue;
    waiting = true;
    if (each->recalled) continue;
    each->recalled = tables.now();
    contends = true;
    tables.recalls.emplace_back(each->client->id, each->number);
    if (send_recall(tables, *each)) continue;
    each->next_try = tables.now() + kRecallPause;
  }
  if (contends) tables.mark_contended(file);
  return waiting;
}

void process_recalls(StateTables& tables) {
  std::erase_if(tables.recalls, [&](const std::pair<ClientId, StateNumber>& recall) {
    Client* client = tables.find_client(recall.first);
    if (!client) return true;
    const auto found = client->delegations.find(recall.second);
    if (found == client->delegations.end()) return true;
    DelegationState& delegation = found->second;
    if (tables.now() - *delegation.recalled > tables.options.lease) {
      revoke(tables, delegation);
      return true;
    }
    const bool due = (!delegation.calling || delegation.needs_other_session) &&
                     !delegation.recall_done && delegation.next_try <= tables.now();
    if (due && !send_recall(tables, delegation)) delegation.next_try = tables.now() + kRecallPause;
    return false;
  });
}

}  // namespace steertag::peer
