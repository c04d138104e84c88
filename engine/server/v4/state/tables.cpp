// Finding, making and removing the records of the state.
#include "server/v4/state/tables.h"

#include <algorithm>
#include <utility>

namespace steertag::peer {
namespace {

template <class Element>
void drop(std::vector<Element>& from, const Element& element) {
  from.erase(std::remove(from.begin(), from.end(), element), from.end());
}

}  // namespace

std::uint32_t next_seqid(std::uint32_t seqid) {
  return seqid == 0xffffffff ? 1 : seqid + 1;
}

StateTables::StateTables(Nfs4StateOptions its_options)
    : options(std::move(its_options)),
      recovery(options.recovery_path, options.clock(), options.lease) {
  // Neither zeros nor ones: those begin the special stateids.
  while (boot == 0 || boot == 0xffffffff) boot = static_cast<std::uint32_t>(options.random());
}

StateTables::~StateTables() {
  for (auto& [id, session] : sessions) *session->alive = false;
}

Client& StateTables::add_client(std::uint32_t minorversion, std::string_view owner,
                                const std::string& host) {
  while (next_client_ == 0 || find_client_number(next_client_)) ++next_client_;
  const ClientId id = ClientId{boot} << 32 | next_client_++;
  auto client = std::make_unique<Client>();
  client->id = id;
  client->minorversion = minorversion;
  client->owner = owner;
  client->renewed = now();
  client->place = by_renewal.insert(by_renewal.end(), client.get());
  client->host = host;
  client->host_usage = &by_host_[client->host];
  ++client->host_usage->clients;
  unconfirmed.push_back(id);
  by_owner_.emplace(owner_key(minorversion, owner), client.get());
  return *(clients[id] = std::move(client));
}

Client* StateTables::find_client(ClientId id) {
  const auto found = clients.find(id);
  return found == clients.end() ? nullptr : found->second.get();
}

Client* StateTables::find_client(std::uint32_t minorversion, std::string_view owner,
                                 bool confirmed) {
  const auto [first, last] = by_owner_.equal_range(owner_key(minorversion, owner));
  const auto found = std::find_if(
      first, last, [&](const auto& entry) { return entry.second->confirmed == confirmed; });
  return found == last ? nullptr : found->second;
}

Client* StateTables::find_client_number(std::uint32_t number) {
  return find_client(ClientId{boot} << 32 | number);
}

bool StateTables::lease_over(const Client& client) const {
  return now() - client.renewed > options.lease;
}

void StateTables::renew(Client& client) {
  client.renewed = now();
  by_renewal.splice(by_renewal.end(), by_renewal, client.place);
}

std::size_t StateTables::records_of(const std::string& host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? 0 : found->second.clients;
}

bool StateTables::drop_unconfirmed(const std::string* host) {
  const auto oldest = std::ranges::find_if(
      unconfirmed, [&](ClientId id) { return !host || find_client(id)->host == *host; });
  if (oldest == unconfirmed.end()) return false;
  remove_client(*find_client(*oldest));
  unconfirmed.erase(oldest);
  return true;
}

bool StateTables::make_room_for_client(const std::string& host) {
  // A list of all that were ever made would grow: what is not unconfirmed any more goes first.
  std::erase_if(unconfirmed, [&](ClientId id) {
    const Client* client = find_client(id);
    return !client || client->confirmed;
  });
  if (records_of(host) >= kMostClientsPerHost && !drop_unconfirmed(&host)) return false;
  const auto of_host = std::ranges::count_if(
      unconfirmed, [&](ClientId id) { return find_client(id)->host == host; });
  if (static_cast<std::size_t>(of_host) >= kMostUnconfirmedPerHost) drop_unconfirmed(&host);
  if (unconfirmed.size() >= kMostUnconfirmedClients || clients.size() >= kMostClients)
    drop_unconfirmed(nullptr);
  return clients.size() < kMostClients;
}

void StateTables::remove_client(Client& client) {
  Client* const one = &client;
  remove_clients({&one, 1});
}

void StateTables::remove_clients(std::span<Client* const> gone) {
  recovery.forget(gone);
  for (Client* client : gone) end_client(*client);
}

void StateTables::cancel_leases(std::span<Client* const> gone) {
  for (const Client* client : gone) {
    if (client->minorversion > 0 || !client->confirmed) continue;
    if (cancelled.size() == kMostCancelledClients) cancelled.pop_front();
    cancelled.push_back(client->id);
  }
  remove_clients(gone);
}

bool StateTables::was_cancelled(ClientId id) const {
  return std::ranges::find(cancelled, id) != cancelled.end();
}

void StateTables::end_client(Client& client) {
  while (!client.sessions.empty()) remove_session(*find_session(client.sessions.back()));
  while (!client.layouts.empty()) remove_layout(client.layouts.begin()->second);
  while (!client.delegations.empty()) remove_delegation(client.delegations.begin()->second);
  while (!client.opens.empty()) remove_open(client.opens.begin()->second);
  for (const auto& [name, owner] : client.open_owners) give_back_owner(client, name);
  for (const auto& [name, owner] : client.lock_owners) give_back_owner(client, name);
  const auto [first, last] = by_owner_.equal_range(owner_key(client.minorversion, client.owner));
  by_owner_.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == &client; }));
  if (--client.host_usage->clients == 0) by_host_.erase(client.host);
  by_renewal.erase(client.place);
  clients.erase(client.id);
}

Session* StateTables::find_session(const nfs4::SessionId& id) {
  const auto found = sessions.find(id);
  return found == sessions.end() ? nullptr : found->second.get();
}

Session& StateTables::add_session(std::unique_ptr<Session> session) {
  Session& made = *(sessions[session->id] = std::move(session));
  cached_bytes += made.reserved_bytes;
  made.client->host_usage->cached_bytes += made.reserved_bytes;
  made.client->sessions.push_back(made.id);
  return made;
}

void StateTables::remove_session(Session& session) {
  *session.alive = false;
  // Recalls that it had under way go over another session.
  for (const BackSlot& slot : session.back_slots) {
    if (RecallableState* recalled = find_recallable(*session.client, slot.recalled))
      recalled->calling = false;
  }
  cached_bytes -= session.reserved_bytes;
  session.client->host_usage->cached_bytes -= session.reserved_bytes;
  drop(session.client->sessions, session.id);
  const nfs4::SessionId id = session.id;
  sessions.erase(id);
}

File& StateTables::file(const Handle& handle) {
  File& found = files[handle];
  found.handle = handle;
  return found;
}

File* StateTables::find_file(const Handle& handle) {
  const auto found = files.find(handle);
  return found == files.end() ? nullptr : &found->second;
}

void StateTables::drop_if_idle(File& file) {
  if (!file.idle(now())) return;
  const Handle handle = file.handle;
  files.erase(handle);
}

void StateTables::fence(File& file) {
  if (options.fence && file.granted != 0)
    options.fence->revoke(file.handle, std::exchange(file.granted, 0));
}

void StateTables::mark_contended(File& file) {
  file.contended_until = now() + kContentionPause;
  contended.emplace_back(file.contended_until, file.handle);
}

void StateTables::end_contentions() {
  while (!contended.empty() && contended.front().first <= now()) {
    if (File* file = find_file(contended.front().second)) drop_if_idle(*file);
    contended.pop_front();
  }
}

void StateTables::remove_file(File& file) {
  const Handle handle = file.handle;
  file.contended_until = TimePoint::max();  // keeps the record until it is empty
  while (!file.layouts.empty()) unlink_layout(*file.layouts.back());
  while (!file.delegations.empty()) remove_delegation(*file.delegations.back());
  while (!file.opens.empty()) {
    OpenOwner& owner = *file.opens.back()->owner;
    remove_open(*file.opens.back());
    // As with CLOSE; in minor version 0 an owner stays for its retries.
    if (owner.client->minorversion > 0 && owner.opens.empty()) remove_open_owner(owner);
  }
  files.erase(handle);
}

StateNumber StateTables::next_number(const Client& client) {
  while (next_state_ == 0 || client.opens.contains(next_state_) ||
         client.locks.contains(next_state_) || client.delegations.contains(next_state_) ||
         client.layouts.contains(next_state_) || client.notices.contains(next_state_) ||
         (client.bulk && client.bulk->number == next_state_) ||
         client.closed.contains(next_state_) || client.revoked.contains(next_state_))
    ++next_state_;
  return next_state_++;
}

nfs4::StateId StateTables::stateid(const Client& client, StateNumber number,
                                   std::uint32_t seqid) const {
  nfs4::StateId made;
  made.seqid = seqid;
  wire::store_u32(made.other.data(), boot);
  wire::store_u32(made.other.data() + 4, static_cast<std::uint32_t>(client.id));
  wire::store_u32(made.other.data() + 8, number);
  return made;
}

void StateTables::take_state(Client& client) {
  ++state_count;
  ++client.host_usage->states;
}

void StateTables::give_back_state(Client& client) {
  --state_count;
  --client.host_usage->states;
}

void StateTables::give_back_owner(Client& client, std::string_view name) {
  owner_bytes -= owner_cost(name);
  client.host_usage->owner_bytes -= owner_cost(name);
}

template <class Owners>
auto& StateTables::add_owner(Owners& owners, Client& client, std::string_view name) {
  auto& owner = owners[std::string(name)];
  owner.client = &client;
  owner.name = name;
  owner_bytes += owner_cost(name);
  client.host_usage->owner_bytes += owner_cost(name);
  return owner;
}

OpenOwner& StateTables::add_open_owner(Client& client, std::string_view name) {
  return add_owner(client.open_owners, client, name);
}

LockOwner& StateTables::add_lock_owner(Client& client, std::string_view name) {
  return add_owner(client.lock_owners, client, name);
}

OpenState& StateTables::add_open(OpenOwner& owner, File& its_file) {
  const StateNumber number = next_number(*owner.client);
  OpenState& open = owner.client->opens[number];
  open.number = number;
  open.owner = &owner;
  open.file = &its_file;
  owner.opens.push_back(&open);
  its_file.opens.push_back(&open);
  take_state(*owner.client);
  return open;
}

void StateTables::remove_open(OpenState& open) {
  fence(*open.file);
  while (!open.locks.empty()) remove_lock(*open.locks.back());
  drop(open.owner->opens, &open);
  drop(open.file->opens, &open);
  Client& client = *open.owner->client;
  return_on_close(client, *open.file);
  drop_if_idle(*open.file);
  client.opens.erase(open.number);
  give_back_state(client);
}

LockState& StateTables::add_lock(LockOwner& owner, OpenState& open) {
  const StateNumber number = next_number(*owner.client);
  LockState& lock = owner.client->locks[number];
  lock.number = number;
  lock.owner = &owner;
  lock.open = &open;
  lock.file = open.file;
  owner.states.push_back(&lock);
  open.locks.push_back(&lock);
  take_state(*owner.client);
  return lock;
}

void StateTables::remove_lock(LockState& lock) {
  fence(*lock.file);
  Client& client = *lock.owner->client;
  client.range_count -= std::erase_if(lock.file->ranges,
                                      [&](const LockRange& range) { return range.state == &lock; });
  drop(lock.owner->states, &lock);
  drop(lock.open->locks, &lock);
  // An owner of minor version 0 stays for RELEASE_LOCKOWNER and the retry of its last request.
  if (client.minorversion > 0 && lock.owner->states.empty()) remove_lock_owner(*lock.owner);
  client.locks.erase(lock.number);
  give_back_state(client);
}

DelegationState& StateTables::add_delegation(Client& client, File& its_file) {
  const StateNumber number = next_number(client);
  DelegationState& made = client.delegations[number];
  made.number = number;
  made.client = &client;
  made.file = &its_file;
  its_file.delegations.push_back(&made);
  take_state(client);
  return made;
}

void StateTables::remove_delegation(DelegationState& delegation) {
  fence(*delegation.file);
  drop(delegation.file->delegations, &delegation);
  Client& client = *delegation.client;
  return_on_close(client, *delegation.file);
  drop_if_idle(*delegation.file);
  client.delegations.erase(delegation.number);
  give_back_state(client);
}

LayoutState& StateTables::add_layout(Client& client, File& its_file) {
  const StateNumber number = next_number(client);
  LayoutState& made = client.layouts[number];
  made.callback = nfs4::CbOpnum::OP_CB_LAYOUTRECALL;
  made.number = number;
  made.seqid = 0;  // what is granted counts on from here
  made.client = &client;
  made.file = &its_file;
  its_file.layouts.push_back(&made);
  take_state(client);
  return made;
}

void StateTables::unlink_layout(LayoutState& layout) {
  fence(*layout.file);
  drop(layout.file->layouts, &layout);
  Client& client = *layout.client;
  client.layouts.erase(layout.number);
  give_back_state(client);
}

void StateTables::remove_layout(LayoutState& layout) {
  File& its_file = *layout.file;
  unlink_layout(layout);
  drop_if_idle(its_file);
}

void StateTables::return_on_close(Client& client, File& its_file) {
  if (!options.layouts_end_at_close) return;
  const auto is_open = [&](const OpenState* open) { return open->owner->client == &client; };
  const auto is_its = [&](const auto* state) { return state->client == &client; };
  if (std::ranges::any_of(its_file.opens, is_open) ||
      std::ranges::any_of(its_file.delegations, is_its))
    return;
  const auto found = std::ranges::find_if(its_file.layouts, is_its);
  if (found != its_file.layouts.end()) unlink_layout(**found);
}

BulkRecall& StateTables::add_bulk_recall(Client& client) {
  const StateNumber number = next_number(client);
  BulkRecall& made = client.bulk.emplace();
  made.callback = nfs4::CbOpnum::OP_CB_LAYOUTRECALL;
  made.number = number;
  made.client = &client;
  return made;
}

DeviceNotice& StateTables::add_notice(Client& client) {
  const StateNumber number = next_number(client);
  DeviceNotice& made = client.notices[number];
  made.callback = nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID;
  made.number = number;
  made.client = &client;
  return made;
}

RecallableState* StateTables::find_recallable(Client& client, StateNumber number) {
  if (client.bulk && client.bulk->number == number) return &*client.bulk;
  const auto notice = client.notices.find(number);
  if (notice != client.notices.end()) return &notice->second;
  const auto delegation = client.delegations.find(number);
  if (delegation != client.delegations.end()) return &delegation->second;
  const auto layout = client.layouts.find(number);
  return layout == client.layouts.end() ? nullptr : &layout->second;
}

void StateTables::remove_open_owner(OpenOwner& owner) {
  while (!owner.opens.empty()) remove_open(*owner.opens.back());
  owner.client->closed.erase(owner.last_closed);
  const std::string name = owner.name;
  give_back_owner(*owner.client, name);
  owner.client->open_owners.erase(name);
}

void StateTables::remove_lock_owner(LockOwner& owner) {
  while (!owner.states.empty()) {
    LockState& last = *owner.states.back();
    const bool gone = owner.states.size() == 1 && owner.client->minorversion > 0;
    remove_lock(last);
    if (gone) return;
  }
  const std::string name = owner.name;
  give_back_owner(*owner.client, name);
  owner.client->lock_owners.erase(name);
}

}  // namespace steertag::peer
