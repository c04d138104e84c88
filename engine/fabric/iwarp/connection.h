// One iWARP connection: connects its socket, transmitter, receiver and the owner's handler.
#pragma once

#include <memory>
#include <optional>

#include "fabric/fabric.h"
#include "fabric/iwarp/initiator.h"
#include "fabric/iwarp/message_receiver.h"
#include "fabric/iwarp/observation.h"
#include "fabric/iwarp/runtime.h"
#include "fabric/iwarp/transmitter.h"
#include "fabric/software/software_connection.h"

namespace steertag::fabric::iwarp {

class IwarpConnection final : public SoftwareConnection,
                              private Initiator::Owner,
                              private Delivery,
                              private TransmitProgress {
 public:
  /// `options` are not kept.
  IwarpConnection(Runtime& runtime, SoftwareDomain& domain, trace::Role role,
                  const ConnectionOptions& options, Handler& handler, trace::EventSink* events,
                  trace::ByteSink* bytes);
  ~IwarpConnection() override;

  /// Starts as initiator.
  void initiate(std::vector<Address> addresses, const ConnectionOptions& options);
  /// Starts as responder with the reply. `request` has the request's octets.
  Expected<void, Error> respond(Socket socket, View request, View peer_private_data, Bytes reply,
                                const Agreement& agreement);

  void post_receive(MutableView buffer, WorkId id) override;
  Expected<void, Error> recover_read_faults() override;
  Expected<void, Error> send_raw(View bytes) override;
  Expected<void, Error> terminate(const trace::Terminate& terminate) override;
  void disconnect() override;
  void abort() override;

  bool established() const override { return state_ == State::operating; }
  std::size_t unsent_operations() const override { return transmitter_.posted(); }
  bool receives_are_empty() const override {
    return fpdus_.between_fpdus() && receiver_.between_messages();
  }
  void observe(trace::EventSink* events, trace::ByteSink* bytes) override {
    observation_.observe(events, bytes);
  }

 private:
  enum class State : std::uint8_t {
    starting,     // the initiator's startup
    replying,     // the responder's reply is leaving
    operating,    // full operation
    draining,     // the owner disconnected: queued octets leave
    ending,       // our half has ended; waiting for the peer's end
    peer_ended,   // the peer's half has ended; queued octets leave
    terminating,  // a Terminate is leaving; received octets are dropped
    closed,
  };
  enum class How : std::uint8_t {
    lingering,  // our half ends; received octets are dropped until the peer's end
    complete,   // both halves have ended, or the stream is broken
    reset,
  };

  // ReactorConnection, SoftwareConnection
  void settle() override {
    resume();
    flush();
  }
  bool closed() const override { return state_ == State::closed; }
  Expiry next_expiry() const override;
  void expire(Wait wait) override;
  Expected<Posted*, Error> post(Operation kind, WorkId id, const Fault* fault) override;
  Expected<void, Error> post_read(ReadOrder order, WorkId id, const Fault* fault) override;
  EventObservation& observed() override { return observation_; }
  // Channel
  void on_ready(std::uint32_t events) override;
  // Initiator::Owner
  void on_startup_octets(trace::Role sender, View bytes) override;
  void on_request_sent() override;
  void on_reply(Socket socket, const Agreement& agreement, Bytes private_data) override;
  void on_failed(Error error, Bytes private_data) override;
  // Delivery
  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override;
  void on_write_segment(const Segment& segment, View payload) override;
  void on_read_request(const ReadRequest& request, std::uint32_t msn,
                       SoftwareRegion* source) override;
  void on_read_refused(const ReadRequest& request, const ReadRefusal& refusal,
                       bool recoverable) override;
  void on_response_segment(const Segment& segment, View payload) override;
  void on_read_done(WorkId id) override;
  void on_refused(WorkId id, const ReadRefusal& refusal) override;
  void on_refusal(const ReadRefusal& refusal) override;
  void on_terminate(View body) override;
  bool open() const override;
  // TransmitProgress
  void on_framed(const Outgoing& operation, std::uint64_t offset,
                 std::size_t payload_bytes) override;
  void on_read_queued(const Outgoing& operation, std::uint32_t sink_stag) override;
  void on_left(Outgoing::Kind kind, WorkId id) override;
  bool may_read() const override;
  bool source_open(Outgoing& operation) override;

  void enter_operation(Socket socket, const Agreement& agreement);
  Expected<Outgoing*, Error> post(Outgoing::Kind kind, WorkId id, const Fault* fault);

  void receive();
  bool take(MutableView direct, View scratch, std::size_t count);
  bool take_octets(View octets);
  /// Goes on behind a Send that has waited for a receive.
  void resume();
  // By the blocking policy: what the peer has begun, and what it does not take.
  void wait_for_rest() const;
  void wait_for_peer() const;
  void wait(short events, std::chrono::milliseconds most) const;
  /// A Send waits for a receive: to begin, or to go on.
  bool waits() const { return fpdus_.waiting() || lacks_receive_; }
  void peer_end();
  void stream_error(int code);
  void flush();
  void flush_reply();
  bool send_some();
  /// RFC 5044 4.5: the MULPDU is that of the present EMSS.
  void follow_emss();
  void send_failed(int code);
  void after_flush();
  bool may_transmit() const;
  void watch();

  void violate(Violation violation);
  void start_terminate(const TerminateMessage& message, CloseReason reason);
  void finish(CloseReason reason, How how, trace::Role culprit);

  struct Reply {
    Bytes octets;
    std::size_t sent = 0;
    Bytes peer_private_data;
    Agreement agreement;
  };

  Runtime& runtime_;
  const Policy policy_;
  State state_ = State::starting;
  Bytes own_private_data_;
  std::unique_ptr<Initiator> initiator_;
  std::unique_ptr<Reply> reply_;
  Socket socket_;
  Observation observation_;
  MessageReceiver receiver_;
  FpduReceiver fpdus_;
  Bytes kept_;                  // octets behind the header of a Send that waits for a receive
  bool lacks_receive_ = false;  // to go on inside an FPDU of a Send
  Transmitter transmitter_;
  std::chrono::milliseconds idle_timeout_{0};
  bool blocked_ = false;      // the socket takes no more at present
  bool was_blocked_ = false;  // before the current flush
  bool more_ = false;         // more could be sent at once, after others had their turn
  bool recovers_ = false;     // recover_read_faults
  bool ungated_ = false;      // raw octets may leave before the initiator's first FPDU
  bool startup_notified_ = false;
  std::uint64_t sent_since_emss_ = 0;  // octets
  Time last_sent_ = 0;                 // or the start of a wait
  Time last_read_ = 0;                 // progress of our RDMA Reads
};

}  // namespace steertag::fabric::iwarp
