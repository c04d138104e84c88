// What the connections of every provider share: turns, deadlines and the owner's notifications.
#pragma once

#include <optional>
#include <string>

#include "fabric/fabric.h"
#include "fabric/provider/provider_core.h"

namespace steertag::fabric {

/// What a connection waits for, within a limit.
enum class Wait : std::uint8_t {
  nothing,
  startup,
  requester,    // RoCE: what the requester repeats and gives up has limits of its own
  room,         // the peer takes what is queued or in flight
  rest,         // the peer continues the message that it has begun
  read,         // the peer answers RDMA Reads
  departure,    // posted operations leave
  reason,       // verbs: the connection manager says why the queue pair failed
  peers_end,    // the peer ends the connection, after us
  any_traffic,  // the owner's own limit
};

/// The earliest end of a wait.
struct Expiry {
  Time at = kNever;
  Wait wait = Wait::nothing;

  void consider(bool applies, Wait other, Time end) {
    if (applies && end < at) {
      at = end;
      wait = other;
    }
  }
  void consider(bool applies, Wait other, Time since, std::chrono::milliseconds limit) {
    consider(applies, other, after(since, limit));
  }
};

/// A limit has passed: "WHAT N ms".
CloseReason timed_out(const std::string& what, std::chrono::milliseconds limit);

class ReactorConnection : public Connection, protected Channel, private Turn {
 public:
  ~ReactorConnection() override { core_.turns.forget(*this); }

  trace::Role role() const override { return role_; }
  std::string peer_name() const override { return peer_name_; }
  std::uint64_t octets_read() const override { return octets_read_; }

 protected:
  ReactorConnection(ProviderCore& core, trace::Role role, Handler& handler)
      : role_(role), core_(core) {
    handler_ = &handler;
  }

  /// Does what waits. Called in the connection's turn, unless it is closed.
  virtual void settle() = 0;
  virtual bool closed() const = 0;
  virtual Expiry next_expiry() const = 0;
  virtual void expire(Wait wait) = 0;

  /// The connection has work, or a notification is pending.
  void mark_unsettled();
  void update_deadline();
  /// Operations can be posted; otherwise not_connected or queue_full.
  Expected<void, Error> may_post() const;

  void give_established(View private_data);
  void give_received(WorkId id, MutableView bytes, std::optional<std::uint32_t> invalidated);
  void give_completed(WorkId id, Operation operation);
  void give_read_refused(WorkId id, const trace::Terminate& cause);

  // Channel
  void on_ready(std::uint32_t /*events*/) override {}
  void on_deadline() override;

  trace::Role role_;
  std::string peer_name_;
  Reactor::Key key_ = 0;
  std::uint64_t octets_read_ = 0;
  Time last_received_ = 0;
  Time ending_since_ = 0;
  bool was_established_ = false;
  std::optional<CloseReason> reason_;  // set before the connection is closed
  Bytes refused_private_data_;

 private:
  // Turn
  void take_turn() override;
  void give_end();

  ProviderCore& core_;
  bool unsettled_ = false;
  bool end_given_ = false;
};

}  // namespace steertag::fabric
