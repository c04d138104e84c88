// One RoCE connection: its session, requester and responder, and the owner's handler.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/provider/connection_options.h"
#include "fabric/roce/reliable/requester.h"
#include "fabric/roce/reliable/responder.h"
#include "fabric/roce/runtime.h"
#include "fabric/roce/session.h"
#include "fabric/software/observation.h"
#include "fabric/software/software_connection.h"

namespace steertag::fabric::roce {

/// Octets of the consumer's private data that fit a request, behind the header of the IP service.
inline constexpr std::size_t kMostPrivateData = wire::kRequestPrivateBytes - wire::kIpHeaderBytes;

/// Unsupported options, or more private data than `most` octets, are errors.
inline Expected<void, Error> check(const ConnectionOptions& options, std::size_t most) {
  return check_options(options, most, "RoCE has no MPA");
}

class RoceConnection final : public SoftwareConnection,
                             private SessionUser,
                             private RequesterOwner,
                             private ResponderOwner,
                             private PacketOutput {
 public:
  RoceConnection(Runtime& runtime, SoftwareDomain& domain, trace::Role role,
                 const ConnectionOptions& options, Handler& handler, trace::EventSink* events,
                 trace::ByteSink* bytes);
  ~RoceConnection() override;

  /// Starts as initiator, and tries the addresses in turn.
  void initiate(std::vector<Address> addresses);
  /// Starts as responder. The acceptance leaves in the next turn, so the owner can post its
  /// receives before.
  void respond(Session& session, View peer_private_data);

  using SoftwareConnection::send;
  void post_receive(MutableView buffer, WorkId id) override;
  using Connection::open_window;
  Expected<void, Error> open_window(Region& region, Rights rights, std::size_t length) override;
  Expected<void, Error> send_raw(View bytes) override;
  Expected<void, Error> terminate(const trace::Terminate& terminate) override;
  void disconnect() override;
  void abort() override;

  bool established() const override { return state_ == State::operating; }
  std::size_t unsent_operations() const override { return requester_.posted(); }
  bool receives_are_empty() const override { return responder_.between_messages(); }
  void observe(trace::EventSink* events, trace::ByteSink* bytes) override;

 private:
  enum class State : std::uint8_t {
    requesting,  // the initiator's request has left
    accepting,   // the responder's acceptance has not left
    accepted,    // it has
    operating,   // full operation
    draining,    // the owner disconnected: posted operations are still done
    ending,      // we have asked for the end
    closed,
  };

  // ReactorConnection, SoftwareConnection
  void settle() override;
  bool closed() const override { return state_ == State::closed; }
  Expiry next_expiry() const override;
  void expire(Wait wait) override;
  Expected<Posted*, Error> post(Operation kind, WorkId id, const Fault* fault) override;
  Expected<void, Error> post_read(ReadOrder order, WorkId id, const Fault* fault) override;
  EventObservation& observed() override { return observation_; }
  // SessionUser
  void on_accepted(View private_data) override;
  using SoftwareConnection::on_ready;
  void on_ready() override;
  void on_rejected(std::uint16_t reason, View private_data) override;
  void on_peer_ended() override;
  void on_ended() override;
  void on_unreachable(Error error) override;
  void on_packet(const Packet& packet) override;
  void on_room() override;
  // RequesterOwner
  void on_sending(const Outgoing& operation, std::uint64_t offset, std::uint64_t length) override;
  void on_response(const Outgoing& operation, std::uint64_t offset, View payload) override;
  void on_done(Operation kind, WorkId id) override;
  void on_requester_failed(CloseReason reason) override;
  // ResponderOwner
  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override;
  void on_write(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                View payload) override;
  void on_read(const RdmaHeader& request) override;
  void on_read_answered(const RdmaHeader& request, std::uint64_t offset,
                        std::uint64_t length) override;
  void on_refused_request(Refusal refusal, std::uint32_t psn) override;
  void on_source_closed(std::uint32_t psn) override;
  // PacketOutput
  bool room() override;
  void send(PacketHeaders packet, std::span<const View> payload) override;
  void send_bent(PacketHeaders packet, std::span<const View> payload,
                 const BentPacket& bent) override;

  Offer offer() const;
  void try_next_address(Error last);
  void operate(View peer_private_data);
  Expected<Outgoing*, Error> queue(Operation kind, WorkId id, const Fault* fault);
  bool waits_for_owner();
  void begin_end();
  std::chrono::milliseconds startup_limit() const;
  /// The end. `actor` is the side that ended the connection.
  void finish(CloseReason reason, bool clean, trace::Role actor);
  bool transfers() const { return state_ == State::operating || state_ == State::draining; }
  bool answers() const { return transfers() || state_ == State::ending; }
  Time now() const { return runtime_.reactor.round_time(); }

  Runtime& runtime_;
  State state_ = State::requesting;
  ConnectionOptions options_;
  std::vector<Address> addresses_;  // not tried yet, from the back
  Session* session_ = nullptr;
  software::Observation observation_;
  trace::ByteSink* bytes_;
  Windows windows_;
  Requester requester_;
  Responder responder_;
  Bytes peer_private_data_;
  bool waited_ = false;  // an acknowledgement, for the owner's answer
  bool connect_notified_ = false;
  Time started_ = 0;
  Time last_progress_ = 0;  // when a request was executed, or a part of one
};

}  // namespace steertag::fabric::roce
