// Stateids.
#include "server/v4/state/stateids.h"

#include <algorithm>

namespace steertag::peer {
namespace {

bool all(const nfs4::StateId& stateid, std::byte octet, std::uint32_t seqid) {
  return stateid.seqid == seqid &&
         std::ranges::all_of(stateid.other, [&](std::byte each) { return each == octet; });
}

struct Parts {
  std::uint32_t boot;
  std::uint32_t client;
  StateNumber number;
};

Parts parts_of(const nfs4::StateId& stateid) {
  const std::byte* other = stateid.other.data();
  return {wire::load_u32(other), wire::load_u32(other + 4), wire::load_u32(other + 8)};
}

template <class Map>
auto* find_in(Map& map, StateNumber number) {
  const auto found = map.find(number);
  return found == map.end() ? nullptr : &found->second;
}

std::uint32_t seqid_of(const StatePointer& state) {
  return std::visit([](const auto* each) { return each->seqid; }, state);
}

}  // namespace

bool is_anonymous(const nfs4::StateId& stateid) {
  return all(stateid, std::byte{0}, 0);
}

bool is_read_bypass(const nfs4::StateId& stateid) {
  return all(stateid, std::byte{0xff}, 0xffffffff);
}

Client& client_of(const StatePointer& state) {
  struct Visitor {
    Client& operator()(OpenState* open) const { return *open->owner->client; }
    Client& operator()(LockState* lock) const { return *lock->owner->client; }
    Client& operator()(DelegationState* delegation) const { return *delegation->client; }
  };
  return std::visit(Visitor{}, state);
}

File& file_of(const StatePointer& state) {
  return std::visit([](auto* each) -> File& { return *each->file; }, state);
}

void renew(StateTables& tables, Client& client) {
  tables.renew(client);
}

StateNumber number_in(const StateTables& tables, const Client& client,
                      const nfs4::StateId& stateid) {
  const Parts parts = parts_of(stateid);
  const bool ours =
      parts.boot == tables.boot && parts.client == static_cast<std::uint32_t>(client.id);
  return ours ? parts.number : 0;
}

Expected<StatePointer, nfs4::Status> find_state(StateTables& tables, const StateUser& user,
                                                const nfs4::StateId& stateid) {
  const bool v40 = user.minorversion == 0;
  const Parts parts = parts_of(stateid);
  // RFC 8881 8.2.4: zeros and ones are no state; minor version 1 has no NFS4ERR_STALE_STATEID.
  if (parts.boot == 0 || parts.boot == 0xffffffff)
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  if (parts.boot != tables.boot) {
    return tl::unexpected(v40 ? nfs4::Status::NFS4ERR_STALE_STATEID
                              : nfs4::Status::NFS4ERR_BAD_STATEID);
  }
  Client* client = tables.find_client_number(parts.client);
  if (!client && v40) return tl::unexpected(nfs4::Status::NFS4ERR_EXPIRED);
  if (!client || client->minorversion != user.minorversion ||
      (user.client && *user.client != client->id))
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  std::optional<StatePointer> state;
  if (auto* open = find_in(client->opens, parts.number)) state = open;
  if (auto* lock = find_in(client->locks, parts.number)) state = lock;
  if (auto* delegation = find_in(client->delegations, parts.number)) state = delegation;
  if (!state) {
    return tl::unexpected(client->revoked.contains(parts.number)
                              ? nfs4::Status::NFS4ERR_DELEG_REVOKED
                              : nfs4::Status::NFS4ERR_BAD_STATEID);
  }
  const std::uint32_t present = seqid_of(*state);
  if (stateid.seqid == present || (!v40 && stateid.seqid == 0)) return *state;
  // RFC 8881 8.2.2: seqids wrap, so that the distance tells past from future.
  const bool past = static_cast<std::int32_t>(stateid.seqid - present) < 0;
  return tl::unexpected(past ? nfs4::Status::NFS4ERR_OLD_STATEID
                             : nfs4::Status::NFS4ERR_BAD_STATEID);
}

template <class State>
Expected<State*, nfs4::Status> find_state_of(StateTables& tables, const StateUser& user,
                                             const nfs4::StateId& stateid, const Handle* file) {
  const auto found = find_state(tables, user, stateid);
  // A delegation is another kind, revoked or not.
  const bool revoked = !found && found.error() == nfs4::Status::NFS4ERR_DELEG_REVOKED;
  if (revoked && !std::is_same_v<State, DelegationState>)
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  if (!found) return tl::unexpected(found.error());
  State* const* state = std::get_if<State*>(&*found);
  if (!state || (file && (*state)->file->handle != *file))
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  if (user.minorversion == 0) renew(tables, client_of(*found));
  return *state;
}
template Expected<OpenState*, nfs4::Status> find_state_of(StateTables&, const StateUser&,
                                                          const nfs4::StateId&, const Handle*);
template Expected<LockState*, nfs4::Status> find_state_of(StateTables&, const StateUser&,
                                                          const nfs4::StateId&, const Handle*);
template Expected<DelegationState*, nfs4::Status> find_state_of(StateTables&, const StateUser&,
                                                                const nfs4::StateId&,
                                                                const Handle*);

}  // namespace steertag::peer
