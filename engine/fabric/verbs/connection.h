// One verbs connection: its identifier, its queue pair and the owner's handler.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/net_names.h"
#include "fabric/provider/connection_options.h"
#include "fabric/provider/reactor_connection.h"
#include "fabric/verbs/observation.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/runtime.h"

namespace steertag::fabric::verbs {

/// How often the peer's device repeats a message when no receive is posted (RNR NAK). Each side
/// announces it (CM REQ and REP, InfiniBand specification 12.7). Our device therefore repeats as
/// often as the peer asked for: 0 times for Linux's NFS server. Then the connection ends with
/// Errc::timed_out.
///
/// 7 would repeat for ever and hide a peer that exceeds its credits. 6 times our RNR timer (0.65 s
/// in rdma_cm) tolerate a slow owner. iWARP has no RNR: there we terminate at once.
inline constexpr std::uint8_t kRnrRetries = 6;
/// How often each device repeats unacknowledged packets. The peer's goes by it too. rxe repeats
/// without an end at 7: a peer's Sends to a connection that has ended would never complete. With
/// rdma_cm's 2.1 s of waiting, a device gives up after 9 s. That is sooner than a client that waits
/// for a new connection.
inline constexpr std::uint8_t kTransportRetries = 3;
/// What rxe repeats without an end.
inline constexpr std::uint8_t kEndlessRetries = 7;
static_assert(kTransportRetries < kEndlessRetries && kRnrRetries < kEndlessRetries);

/// Unsupported options, or more private data than `most` octets, are errors.
inline Expected<void, Error> check(const ConnectionOptions& options, std::size_t most) {
  constexpr std::string_view kWhy = "the device decides on the connection's startup, port and CRC";
  if (options.local_port != 0) {
    return tl::unexpected(Error{Errc::unsupported, std::string(kWhy)});
  }
  if (options.receives != nullptr) {
    return tl::unexpected(Error{Errc::unsupported, "verbs:// has no shared receive queue"});
  }
  return check_options(options, most, kWhy);
}

class VerbsConnection final : public ReactorConnection,
                              private CmOwner,
                              private QueueOwner,
                              private WorkProgress {
 public:
  VerbsConnection(Runtime& runtime, VerbsDomain& domain, trace::Role role, Handler& handler,
                  trace::EventSink* events, const ConnectionOptions& options);
  ~VerbsConnection() override;

  /// Starts as initiator, and tries the addresses in turn.
  void initiate(std::vector<Address> addresses);
  /// Starts as responder. `request` is the event with `id`. The acceptance leaves in the next turn.
  /// The owner can post its receives before.
  Expected<void, Error> respond(CmId id, const CmEvent& request);

  void post_receive(MutableView buffer, WorkId id) override;
  Expected<void, Error> send(std::span<const View> parts, WorkId id,
                             std::optional<std::uint32_t> invalidate, const Fault* fault) override;
  using Connection::rdma_write;
  Expected<void, Error> rdma_write(std::span<const View> parts, std::uint32_t stag,
                                   std::uint64_t offset, WorkId id, const Fault* fault) override;
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
  bool established() const override { return state_ == State::operating; }
  std::size_t unsent_operations() const override { return queue_pair_.posted(); }
  std::uint16_t most_outbound_reads() const override { return was_established_ ? ord_ : 0; }
  void observe(trace::EventSink* events, trace::ByteSink* /*bytes*/) override {
    observation_.observe(events);
  }

 private:
  enum class State : std::uint8_t {
    resolving,   // the initiator's address and route
    connecting,  // the initiator's request has left
    accepting,   // the responder's acceptance has not left yet
    accepted,    // it has left; the connection manager has not confirmed it
    operating,   // full operation
    draining,    // the owner disconnected: queued work leaves
    ending,      // we have disconnected; waiting for the peer's end
    closed,
  };

  // ReactorConnection
  void settle() override;
  bool closed() const override { return state_ == State::closed; }
  Expiry next_expiry() const override;
  void expire(Wait wait) override;
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

  void try_next_address(Error last);
  Expected<void, Error> make_queue_pair();
  void address_resolved();
  void route_resolved();
  void accept_now();
  void established_now(const CmEvent& event);
  void rejected(const CmEvent& event);
  void peer_disconnected();
  rdma_conn_param parameters() const;

  Expected<void, Error> may_take(const Fault* fault) const;
  void post(Outgoing operation);
  void hand_over_receives();
  void device_refused(Error error);
  void flush();
  void poll_queue();
  void note_flush();
  void notify_posted(const Outgoing& operation);
  void begin_end();
  /// The end. `actor` is the side that ended the connection.
  void finish(CloseReason reason, bool clean, trace::Role actor);
  bool transfers() const { return state_ == State::operating || state_ == State::draining; }

  Runtime& runtime_;
  VerbsDomain& domain_;
  State state_ = State::resolving;
  ConnectionOptions options_;
  std::vector<Address> addresses_;  // not tried yet
  CmId id_;
  QueuePair queue_pair_;  // destroyed before the identifier
  Observation observation_;
  Bytes peer_private_data_;
  std::uint16_t ord_ = 0;
  bool connect_notified_ = false;
  bool more_completions_ = false;
  bool flushed_ = false;  // the queue pair failed; its reason may still arrive
  Time started_ = 0;
  Time last_progress_ = 0;
  Time flushed_since_ = 0;
};

}  // namespace steertag::fabric::verbs
