// What clients may do at data servers, by the state of their metadata server.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "server/v4/pnfs/data_servers.h"
#include "server/v4/state/records.h"

namespace steertag::peer {

class Nfs4State;

class MetadataAuthority final : public LayoutAuthority {
 public:
  /// `state` must outlive it.
  MetadataAuthority(Nfs4State& state, const PnfsPolicy& policy) : state_(state), policy_(policy) {}

  /// NFS4_OK, NFS4ERR_PNFS_NO_LAYOUT (RFC 8881 13.11), or what the stateid has at the metadata
  /// server (13.9.1).
  LayoutRight decide(const LayoutWish& wish) override;

 private:
  /// Whether the client has had a lease to return what was recalled then (RFC 8881 12.5.5).
  bool is_over(TimePoint recalled) const;
  /// What the client may do now.
  LayoutRight present_right(const LayoutWish& wish);
  nfs4::Status check_stateid(const LayoutWish& wish, const Client& client);
  LayoutRight right_by_layout(const LayoutWish& wish, const Client& client) const;

  Nfs4State& state_;
  const PnfsPolicy policy_;
  // Of policies.
  std::set<std::pair<std::string, Handle>> unfenced_;              // owners and files
  std::map<std::pair<std::string, Handle>, ArrivalTime> allowed_;  // the same, and when it was
  std::set<std::pair<ClientId, StateNumber>> taken_;  // stateids of locks and delegations
};

}  // namespace steertag::peer
