// The responder on one connection (RFC 8166 4.5).
// Every received message becomes a reply, an RDMA_ERROR, nothing, or the end of the connection.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "endpoint/endpoint.h"
#include "server/rdma/rdma_context.h"
#include "server/rdma/transaction.h"
#include "server/server_context.h"

namespace steertag::peer {

class ServerConnection final : public EndpointUser,
                               private WatchedConnection,
                               private ConnectionBackchannel::Sender {
 public:
  /// `context` and `rdma` must outlive the connection.
  ServerConnection(ServerContext& context, RdmaContext& rdma, EndpointOptions options,
                   net::SourceQuota::Slot slot);
  ~ServerConnection() override;

  /// `client` is what the client has announced, if anything. Observers see the connection from its
  /// request on.
  Expected<void, fabric::Error> accept(fabric::ConnectionRequest& request,
                                       const std::optional<wire::PrivateData>& client,
                                       trace::EventSink* events = nullptr,
                                       trace::ByteSink* bytes = nullptr);
  /// Gives back what busier times have left; false while calls are under way that need it. Not from
  /// inside a notice.
  bool trim();
  /// Called in intervals: without a message in a whole one, gives memory back. Not from inside a
  /// notice.
  void look_for_idleness();
  /// Never used again by this process.
  std::uint64_t id() const { return info_.id; }
  bool down() const { return down_; }
  const std::shared_ptr<InterposedConnection>& interposed() const { return interposed_; }

 private:
  void on_up() override {}
  void on_message(ReceiveId receive, View message,
                  std::optional<std::uint32_t> invalidated) override;
  void on_done(WorkTag tag, fabric::Operation operation) override;
  void on_down(const fabric::CloseReason& reason) override;
  /// RFC 8166 4.5.3: calls over which the connection was lost get ERR_CHUNK when they are retried.
  void remember_failed_calls(const fabric::Denial& denied);
  /// The calls that may have posted the operation. What an interposer posted is no call's.
  std::vector<CallId> suspects(const fabric::Denial& denied) const;

  // The other direction (RFC 8167): our calls, and the client's replies to them.
  bool send_callback(Bytes message) override;
  std::size_t largest_callback() const override;
  std::size_t largest_callback_reply() const override;
  /// Whether the message answers a callback. Its receive is of no use then.
  bool take_callback_reply(View message);
  void on_callback_sent(WorkTag tag);

  // Read sinks of pulls: server_pull.cpp.
  PullStart start_waiting_pull(std::uint32_t transaction) override;
  const std::string& pull_host() const override { return source_; }
  bool proven() const override { return proven_; }
  std::uint64_t delivered_octets() const override;
  bool holds_unproven() const override;
  bool awaits_client() const override;
  void drop_stalled() override;
  PullStart take_sink(Transaction& call);
  void release_sink(Transaction& call);
  /// The client has delivered all that was read of it for a call.
  void note_whole_pull();

  // From the message to the call.
  void take_message(Transaction& call, ReceiveId receive, View message);
  void begin(Transaction& call);
  void begin_known_version(Transaction& call, const wire::FixedWords& words);
  void begin_call(Transaction& call);
  PullStart start_pull(Transaction& call);
  void on_pulled(Transaction& call);
  void execute(Transaction& call, View message);
  void answer(Transaction& call, Outcome outcome);

  // From the call to its end.
  void send_reply(Transaction& call);
  void start_reply(Transaction& call);
  void send_version_error(Transaction& call, const wire::FixedWords& words);
  void send_chunk_error(Transaction& call);
  void send_error(Transaction& call, const wire::Header& header);
  void discard(Transaction& call);
  void finish(Transaction& call);
  void give_back_receive(Transaction& call);

  /// Whether the interposer, if there is one, has taken what the call is about to send.
  bool interpose(Transaction& call, Departure::Kind kind);

  // Posting, and holding back.
  void start_posting(Transaction& call);
  /// Posts what there is room for, in the order in which it was started.
  void post_some();
  Expected<void, fabric::Error> post_next(Transaction& call);
  /// Posts what is left of the writes from the first on, as far as one RDMA Write takes it.
  Expected<void, fabric::Error> post_write(Transaction& call, std::size_t first);
  /// RFC 8166 4.5.4: what cannot be answered ends the connection.
  void drop();
  /// Tells that the connection ends because of what the client did not do.
  void tell_of_limit(const fabric::Error& why);
  bool may_execute() const;
  /// Goes on with calls that were held back.
  void go_on();

  Transaction* take_idle();
  ReplyTerms terms() const;

  /// Tags with it belong to callbacks, the others are numbers of transactions.
  static constexpr WorkTag kCallbackTag = WorkTag{1} << 63;
  /// RFC 8167 2: the XIDs of the two directions have nothing to do with each other.
  static constexpr std::uint32_t kFirstCallbackXid = 1;

  struct Backlog {
    ReceiveId receive;
    View message;
  };

  ServerContext& context_;
  RdmaContext& rdma_;
  net::SourceQuota::Slot slot_;
  std::map<ReceiveId, Bytes>
      replaced_;  // messages of an interposer, by the receive of the true one
  ConnectionInfo info_;
  std::string peer_name_;
  std::string source_;  // net::Source of the peer
  std::shared_ptr<ConnectionBackchannel> callbacks_;
  // Messages of callbacks that have not left, by the rest of their tag.
  std::map<WorkTag, std::array<Bytes, 2>> sent_callbacks_;
  WorkTag next_callback_ = 0;
  std::shared_ptr<InterposedConnection> interposed_;  // for an interposer only
  Endpoint endpoint_;
  std::vector<std::unique_ptr<Transaction>> transactions_;
  std::vector<std::uint32_t> idle_;
  std::size_t most_transactions_;
  // Held back while the connection's share of the replies is used up: replies pile up because the
  // client does not take them. Its receives run out next, and a client that exceeds its credits
  // then loses the connection (RFC 8166 3.3.1).
  std::deque<std::uint32_t> pulled_;
  std::deque<Backlog> backlog_;
  std::deque<std::uint32_t> posting_;  // calls with operations still to be posted
  std::size_t posted_ = 0;             // operations that have not completed
  std::size_t pull_bytes_ = 0;
  std::size_t reply_bytes_ = 0;
  std::deque<CallId> recent_pushes_;  // calls whose replies had RDMA Writes
  bool proven_ = false;
  bool going_on_ = false;
  enum class Activity : std::uint8_t { active, quiet, idle } activity_ = Activity::active;
  bool heavy_ = false;    // a call left large buffers
  bool dropped_ = false;  // the end has been asked for
  bool down_ = false;
};

}  // namespace steertag::peer
