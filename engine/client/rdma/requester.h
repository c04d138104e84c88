// The requester of a client (RFC 8166): a queue of calls, credits, XIDs, receives.
// It also decides what happens when the connection is lost.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>

#include "client/interposer.h"
#include "client/policy.h"
#include "client/rdma/client_transport.h"
#include "client/rdma/outgoing_call.h"
#include "client/rdma/reconnect_pause.h"
#include "endpoint/credit.h"
#include "endpoint/endpoint.h"

namespace steertag::peer {

struct RequesterOptions {
  std::uint32_t credits = kDefaultCredits;  // requested in every call
  std::uint32_t reserve = 0;                // of the credits granted, left for other calls
  /// R is cleared where the provider lets a peer close nothing (fabric::Capabilities).
  wire::PrivateData announced{true, kDefaultAnnouncedBytes, kDefaultAnnouncedBytes};
  bool sends_private_data = true;
  bool crc = true;                              // fabric::ConnectionOptions
  std::size_t memory_bytes = kPullBudgetBytes;  // registered memory of all calls together
  std::uint32_t attempts = kMostAttempts;
  std::chrono::milliseconds connect_timeout{5000};
  std::optional<FormWish> form{};  // of every call, whatever its request wishes
  /// `cached`: R is cleared (RFC 8797 4.1), since no STag may end with its call.
  Registration registration = Registration::each;
  /// Data of a reply that comes inline is placed by its XID, if the provider can. Not beside an
  /// interposer, which has whole messages.
  bool pre_posts = false;
  RequesterPolicy policy{};
  std::shared_ptr<ClientInterposer> interposer{};
};

struct RequesterStatistics {
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;        // connections that did not come up
  std::uint64_t calls = 0;          // messages sent
  std::uint64_t retransmitted = 0;  // those sent again, on a later connection
  std::uint64_t replies = 0;
  std::uint64_t reverse_calls = 0;  // of the server, that were answered
  std::uint64_t discarded = 0;      // messages without effect
  std::uint64_t placed = 0;         // replies whose data was placed by XID
  std::uint64_t remote_invalidations = 0;
  std::uint32_t most_in_flight = 0;
};

class Requester final : public ClientTransport, private EndpointUser, private fabric::HeadReader {
 public:
  /// `provider` must outlive the requester. `first_xid` and the clock are taken from outside so
  /// that runs can repeat.
  Requester(fabric::Provider& provider, fabric::Url url, RequesterOptions options,
            std::uint32_t first_xid, net::Clock clock = net::system_clock());
  ~Requester() override;
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  /// Observers of the connections that are opened from now on; they must outlive the requester.
  void observe(trace::EventSink* events, trace::ByteSink* bytes);

  Expected<std::uint32_t, CallError> submit(Request request, CallCallback callback) override;
  /// Polls the provider and does what cannot be done inside its notices.
  void step(std::chrono::milliseconds timeout) override;
  /// Closes the call's memory and drops the connection, on which the server may still use it (RFC
  /// 8166 4.4.1).
  void give_up(std::uint32_t xid, CallError error) override;
  int descriptor() const override { return provider_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override;

  bool up() const { return endpoint_ && endpoint_->up(); }
  std::size_t pending() const override { return outstanding_.size() + queue_.size(); }
  const wire::Negotiated& negotiated() const { return negotiated_; }
  const CreditWindow& credits() const { return credits_; }
  const RequesterStatistics& statistics() const { return statistics_; }
  const RegionPool& pool() const { return pool_; }
  TransportLimits limits() const override { return {credits_.requested(), options_.memory_bytes}; }
  void abort_connection() override;
  std::optional<ReverseLimits> reverse_limits() const override;
  void serve_reverse(ReverseService* service) override { reverse_ = service; }
  std::uint64_t connection_number() const override { return statistics_.connections; }

 private:
  void on_up() override;
  void on_message(ReceiveId receive, View message,
                  std::optional<std::uint32_t> invalidated) override;
  void on_done(WorkTag tag, fabric::Operation operation) override;
  void on_down(const fabric::CloseReason& reason) override;
  fabric::Placement on_head(View head) override;
  /// To the buffer of the call that was sent first.
  void divert(fabric::Placement& placement);

  void start_connection();
  CallMemory memory();
  void pump();
  bool transmit(OutgoingCall& call);
  /// `placed`: the data that ends the message, and is not in it.
  void handle(View message, std::optional<View> placed = {});
  void handle_split(View message, const fabric::Placement& placement);
  EndpointOptions endpoint_options();
  /// Handles what the interposer makes of the message. What becomes of its receive.
  ClientArrival::Receive interpose(View message);
  /// ODAFS-38: whether a Send with Invalidate of any STag is an error of the server that ends the
  /// connection.
  bool breaks_registration() const;
  /// Whether all memory of a call that has its reply is closed to the server.
  bool closes_memory(const OutgoingCall& call) const;
  /// Whether the message is a call of the server, which then needs nothing more.
  bool take_reverse(const wire::Header& header, View payload);
  /// The whole message that answers it; empty: there is none.
  Bytes answer_reverse(const wire::Header& call, View payload);
  void send_answer(const wire::Header& call, View payload, Bytes message);
  /// Queues the call under another XID.
  void make_again(OutgoingCall& call);
  bool send_beside(Bytes message);
  void handle_error(const wire::Header& header, OutgoingCall& call);
  OutgoingCall* find(std::uint32_t xid);
  void tell(const OutgoingCall& call, Expected<CallReply, CallError> outcome);
  void complete(OutgoingCall& call, Expected<CallReply, CallError> outcome);
  void retire_sent(std::uint32_t xid);
  void requeue_all(const std::string& why);

  fabric::Provider& provider_;
  fabric::Url url_;
  RequesterOptions options_;
  std::unique_ptr<fabric::Domain> domain_;
  RegionPool pool_;
  CreditWindow credits_;
  wire::Negotiated negotiated_;
  std::uint32_t next_xid_;
  net::Clock clock_;
  ReconnectPause pause_{options_.policy.reconnect_pause};
  // The present connection, or the last.
  bool came_up_ = false;
  bool carried_call_ = false;
  std::unique_ptr<Endpoint> endpoint_;
  bool down_ = false;  // the endpoint is to be replaced outside of its notices
  std::string down_reason_;
  std::deque<std::unique_ptr<OutgoingCall>> queue_;
  std::unordered_map<std::uint32_t, std::unique_ptr<OutgoingCall>> outstanding_;
  wire::Header received_;        // reused
  fabric::Placement placement_;  // of the message that is arriving
  Bytes joined_;                 // a message with what was placed of it; reused
  trace::EventSink* events_ = nullptr;
  trace::ByteSink* bytes_ = nullptr;
  RequesterStatistics statistics_;
  std::uint64_t callbacks_ = 0;
  // Something came since the last step: a call, or a notice while another polled the provider.
  bool unsettled_ = false;
  ReverseService* reverse_ = nullptr;
  std::unordered_map<WorkTag, Bytes> beside_;  // messages that are no calls
  std::uint64_t next_beside_ = 0;
  std::vector<PooledRegion> left_open_;   // MemoryPolicy
  std::vector<ReceiveId> held_receives_;  // ClientArrival::Receive::hold
};

}  // namespace steertag::peer
