// One verbs connection: its identifier, its queue pair and the owner's handler.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/net_names.h"
#include "fabric/verbs/observation.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/runtime.h"

namespace steertag::fabric::verbs {

/// How often the peer's device shall repeat a message for which we have no receive posted (RNR
/// NAK). Each side tells the other (CM REQ and REP, InfiniBand specification 12.7), so our own
/// device repeats as often as the peer has asked for, Linux's NFS server for 0 times; then the
/// connection ends with Errc::timed_out. 7 would repeat it for ever and hide who breaks a credit
/// grant; 6 times our RNR timer (0.65 s as rdma_cm sets it) forgive a slow owner. iWARP knows no
/// RNR: there we terminate at once.
inline constexpr std::uint8_t kRnrRetries = 6;
/// How often the device repeats what the peer does not acknowledge; 7 is the most.
inline constexpr std::uint8_t kTransportRetries = 7;

/// Options that this provider cannot honour, or more private data than `most`, are errors.
Expected<void, Error> check(const ConnectionOptions& options, std::size_t most_private_data);

class VerbsConnection final : public Connection,
                              private CmOwner,
                              private QueueOwner,
                              private WorkProgress,
                              private Channel {
 public:
  VerbsConnection(Runtime& runtime, VerbsDomain& domain, trace::Role role, Handler& handler,
                  trace::EventSink* events, const ConnectionOptions& options);
  ~VerbsConnection() override;

  /// Starts as initiator; the addresses are tried in turn.
  void initiate(std::vector<Address> addresses);
  /// Starts as responder; `request` is the event that brought `id`. The acceptance leaves in the
  /// next `settle`, so that the receives which the owner posts at once are there before it.
  Expected<void, Error> respond(CmId id, const CmEvent& request);
  /// Hands over what is queued and gives a notice that is due. Called by the provider's poll.
  void settle();

  void post_receive(MutableView buffer, WorkId id) override;
  Expected<void, Error> send(std::span<const View> parts, WorkId id,
                             std::optional<std::uint32_t> invalidate, const Fault* fault) override;
  Expected<void, Error> rdma_write(View from, std::uint32_t stag, std::uint64_t offset, WorkId id,
                                   const Fault* fault) override;
  Expected<void, Error> rdma_read(Region& sink, std::uint64_t sink_offset, std::uint32_t length,
                                  std::uint32_t stag, std::uint64_t offset, WorkId id,
                                  const Fault* fault) override;
  using Connection::open_window;
  Expected<void, Error> open_window(Region& region, Rights rights, std::size_t length) override;
  Expected<void, Error> send_raw(View bytes) override;
  Expected<void, Error> terminate(const trace::Terminate& terminate) override;
  void disconnect() override;
  void abort() override;

  Domain& domain() override { return domain_; }
  trace::Role role() const override { return role_; }
  bool established() const override { return state_ == State::operating; }
  std::string peer_name() const override { return peer_name_; }
  std::size_t unsent_operations() const override { return queue_pair_.posted(); }
  std::uint16_t most_outbound_reads() const override { return was_established_ ? ord_ : 0; }
  std::uint64_t octets_read() const override { return octets_read_; }
  void observe(trace::EventSink* events, trace::ByteSink* /*bytes*/) override {
    observation_.observe(events);
  }

 private:
  enum class State : std::uint8_t {
    resolving,   // the initiator's address and route
    connecting,  // the initiator's request has left
    accepting,   // the responder's acceptance is to leave
    accepted,    // it has left; the connection manager has not yet said that it arrived
    operating,   // full operation
    draining,    // the owner disconnected: what is queued leaves
    ending,      // we have disconnected; the peer's end is awaited
    closed,
  };

  /// What a connection may wait for, and not longer than a limit.
  enum class Wait : std::uint8_t {
    nothing,
    startup,
    room,         // the peer takes what is in flight
    read,         // the peer answers the oldest RDMA Read in flight
    departure,    // what was queued leaves
    reason,       // the queue pair failed: the connection manager tells why
    peers_end,    // the peer ends the connection, as we have
    any_traffic,  // the owner's own limit
  };
  struct Expiry {
    Time at = kNever;
    Wait wait = Wait::nothing;
  };

  // CmOwner
  void on_cm_event(const CmEvent& event) override;
  // QueueOwner
  void on_completions() override;
  void on_async_event(ibv_event_type type) override;
  // WorkProgress
  void on_done(const Outgoing& operation) override;
  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override;
  void on_failed(const WorkFailure& failure) override;
  // Channel: only for its deadline
  void on_ready(std::uint32_t /*events*/) override {}
  void on_deadline() override;

  void try_next_address(Error last);
  Expected<void, Error> make_queue_pair();
  void address_resolved();
  void route_resolved();
  void accept_now();
  void established_now(const CmEvent& event);
  void rejected(const CmEvent& event);
  void peer_disconnected();
  rdma_conn_param parameters() const;

  Expected<void, Error> may_post(const Fault* fault) const;
  void post(Outgoing operation);
  void hand_over_receives();
  void device_refused(Error error);
  void flush();
  void poll_queue();
  void note_flush();
  void notify_posted(const Outgoing& operation);
  void begin_end();
  void notify_closed();
  Expiry next_expiry() const;
  void expire(Wait wait);
  void update_deadline();
  void mark_unsettled();
  /// The end. `actor` is the side that ended the connection.
  void finish(CloseReason reason, bool clean, trace::Role actor);
  bool transfers() const { return state_ == State::operating || state_ == State::draining; }

  Runtime& runtime_;
  VerbsDomain& domain_;
  trace::Role role_;
  State state_ = State::resolving;
  ConnectionOptions options_;
  std::string peer_name_;
  std::vector<Address> addresses_;  // still to be tried
  CmId id_;
  QueuePair queue_pair_;  // goes before the identifier
  Observation observation_;
  Reactor::Key key_ = 0;
  Bytes peer_private_data_;
  std::uint16_t ord_ = 0;
  bool was_established_ = false;
  bool connect_notified_ = false;
  bool unsettled_ = false;
  bool more_completions_ = false;
  bool flushed_ = false;  // the queue pair failed; its reason may still come
  Time started_ = 0;
  Time last_received_ = 0;
  Time last_progress_ = 0;
  std::uint64_t octets_read_ = 0;
  Time ending_since_ = 0;
  Time flushed_since_ = 0;
  std::optional<CloseReason> reason_;  // set before the end is told
  bool end_notified_ = false;
  Bytes refused_private_data_;
};

}  // namespace steertag::fabric::verbs
