// Read delegations.
#include "server/v4/state/delegations.h"

#include <algorithm>

#include "server/v4/state/recalls.h"
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
  note_grant(tables, made, slot);
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
    contends = true;
    start_recall(tables, *each);
  }
  if (contends) tables.mark_contended(file);
  return waiting;
}

}  // namespace steertag::peer
