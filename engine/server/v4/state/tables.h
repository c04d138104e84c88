// All records of the state in one place, and the ways to find, make and remove them.
#pragma once

#include <deque>

#include "server/v4/state/nfs4_state.h"
#include "server/v4/state/recovery.h"
#include "server/v4/state/session.h"

namespace steertag::peer {

struct StateTables {
  explicit StateTables(Nfs4StateOptions its_options);
  ~StateTables();

  TimePoint now() const { return options.clock(); }

  /// `host` is the address that the client calls from.
  Client& add_client(std::uint32_t minorversion, std::string_view owner, const std::string& host);
  /// The record of an id, confirmed or not.
  Client* find_client(ClientId id);
  /// The record of an owner that is (not) confirmed.
  Client* find_client(std::uint32_t minorversion, std::string_view owner, bool confirmed);
  /// The client of a stateid's first half.
  Client* find_client_number(std::uint32_t number);
  /// Removes the record with all sessions and state.
  void remove_client(Client& client);
  /// The same for many of them, with one change of the recovery file.
  void remove_clients(std::span<Client* const> clients);
  /// The same for clients whose lease is over. Those of minor version 0 are remembered.
  void cancel_leases(std::span<Client* const> clients);
  /// Whether this was a client of minor version 0 until its lease was over.
  bool was_cancelled(ClientId id) const;
  bool lease_over(const Client& client) const;
  void renew(Client& client);
  /// Makes room for an unconfirmed client from this host; false when every record, or every one of
  /// the host's share, is in use.
  bool make_room_for_client(const std::string& host);

  Session* find_session(const nfs4::SessionId& id);
  /// Adds a session that has its id, its client and what its reply caches reserve.
  Session& add_session(std::unique_ptr<Session> session);
  void remove_session(Session& session);

  File& file(const Handle& handle);
  File* find_file(const Handle& handle);
  void drop_if_idle(File& file);
  /// Data servers forget what they were granted for the file. Call it where a client loses a right.
  void fence(File& file);
  /// The file gets no delegations for a while.
  void mark_contended(File& file);
  /// Drops the files that were kept for their contention alone.
  void end_contentions();
  /// Removes the record with all opens, locks, delegations and layouts.
  void remove_file(File& file);

  /// Whether another stateid may be made for the client.
  bool has_room_for_state(const Client& client) const {
    return state_count < kMostStates && client.host_usage->states < kMostStatesPerHost;
  }
  /// Whether another owner of either kind may be made for the client.
  bool has_room_for_owner(const Client& client) const {
    return owner_bytes + owner_cost({}) <= kMostOwnerBytes &&
           client.host_usage->owner_bytes + owner_cost({}) <= kMostOwnerBytesPerHost;
  }

  nfs4::StateId stateid(const Client& client, StateNumber number, std::uint32_t seqid) const;

  OpenOwner& add_open_owner(Client& client, std::string_view name);
  LockOwner& add_lock_owner(Client& client, std::string_view name);
  OpenState& add_open(OpenOwner& owner, File& file);
  void remove_open(OpenState& open);
  LockState& add_lock(LockOwner& owner, OpenState& open);
  void remove_lock(LockState& lock);
  DelegationState& add_delegation(Client& client, File& file);
  void remove_delegation(DelegationState& delegation);
  LayoutState& add_layout(Client& client, File& file);
  void remove_layout(LayoutState& layout);
  /// Takes no place in state_count: there is one of a client at most.
  BulkRecall& add_bulk_recall(Client& client);
  DeviceNotice& add_notice(Client& client);
  /// The client's delegation or layout, bulk recall or notice of that number.
  static RecallableState* find_recallable(Client& client, StateNumber number);
  void remove_open_owner(OpenOwner& owner);
  void remove_lock_owner(LockOwner& owner);

  Nfs4StateOptions options;
  std::uint32_t boot = 0;  // tells stateids and client ids of earlier runs
  std::unordered_map<ClientId, std::unique_ptr<Client>> clients;
  std::deque<ClientId> unconfirmed;  // oldest first; some are gone or confirmed by now
  std::deque<ClientId> cancelled;    // oldest first, kMostCancelledClients at most
  std::list<Client*> by_renewal;     // all of them: the one whose lease ends first is the first
  std::unordered_map<nfs4::SessionId, std::unique_ptr<Session>, OctetsHash> sessions;
  std::unordered_map<Handle, File, OctetsHash> files;
  /// Files whose contention ends, in this order; some have contended again or are gone by now.
  std::deque<std::pair<TimePoint, Handle>> contended;
  Recovery recovery;
  /// What was recalled and is not back, by client and number; some of it is gone by now.
  std::vector<std::pair<ClientId, StateNumber>> recalls;
  /// Clients whose bulk recalls wait, and those with devices that are to be deleted; some are gone.
  std::vector<ClientId> waiting_bulks;
  std::vector<ClientId> deleting;
  std::size_t state_count = 0;
  std::size_t owner_bytes = 0;   // by owner_cost
  std::size_t cached_bytes = 0;  // reserved by all sessions
  TimePoint next_expiry{};

 private:
  template <class Owners>
  auto& add_owner(Owners& owners, Client& client, std::string_view name);
  static std::string owner_key(std::uint32_t minorversion, std::string_view owner) {
    return std::to_string(minorversion).append(owner);
  }
  static std::size_t owner_cost(std::string_view name) {
    return kOwnerRecordBytes + 2 * name.size();
  }
  void take_state(Client& client);
  void give_back_state(Client& client);
  void give_back_owner(Client& client, std::string_view name);
  void end_client(Client& client);
  void unlink_layout(LayoutState& layout);
  /// RFC 8881 18.43.3: layouts are granted to be returned on close. What a client does not return
  /// it loses with the last stateid under which it could use it.
  void return_on_close(Client& client, File& file);
  std::size_t records_of(const std::string& host) const;
  /// Removes the oldest unconfirmed record, of this host or with nullptr of any; false: there is
  /// none.
  bool drop_unconfirmed(const std::string* host);
  /// One that the client has no state under: numbers wrap after four thousand million.
  StateNumber next_number(const Client& client);

  // By owner_key: one that is confirmed and one that is not at most.
  std::unordered_multimap<std::string, Client*> by_owner_;
  std::unordered_map<std::string, HostUsage> by_host_;
  std::uint32_t next_client_ = 1;
  StateNumber next_state_ = 1;
};

/// (seqid + 1, without 0 where stateids need that) RFC 8881 8.2.2.
std::uint32_t next_seqid(std::uint32_t seqid);

}  // namespace steertag::peer
