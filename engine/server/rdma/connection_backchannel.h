// The backchannel of one connection: queues callbacks, matches replies by XID, and times out.
// The connection, RDMA or byte stream, sends the messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/deadline_clock.h"
#include "server/rdma/backchannel.h"

namespace steertag::peer {

class ConnectionBackchannel;

/// The timeouts of callbacks in flight, of all connections; run once in a poll.
class CallbackTimers {
 public:
  explicit CallbackTimers(DeadlineClock clock) : clock_(std::move(clock)) {}

  void add(std::weak_ptr<ConnectionBackchannel> backchannel) {
    backchannels_.push_back(std::move(backchannel));
  }
  /// Completes calls that failed or timed out.
  void run();
  std::chrono::steady_clock::time_point now() const { return clock_(); }

 private:
  DeadlineClock clock_;
  std::vector<std::weak_ptr<ConnectionBackchannel>> backchannels_;
};

class ConnectionBackchannel final : public Backchannel,
                                    public std::enable_shared_from_this<ConnectionBackchannel> {
 public:
  /// The connection.
  class Sender {
   public:
    virtual ~Sender() = default;
    /// Sends an RPC call message; false if the connection does not take it any more.
    virtual bool send_callback(Bytes message) = 0;
    virtual std::size_t largest_callback() const = 0;
    virtual std::size_t largest_callback_reply() const = 0;
  };

  /// Both must live until `close`. `window`: calls that may be outstanding until `grant` says more.
  ConnectionBackchannel(Sender& sender, CallbackTimers& timers, std::uint32_t first_xid,
                        std::uint32_t window)
      : sender_(&sender), timers_(&timers), next_xid_(first_xid), window_(window) {}

  void call(Bytes message, Done done) override;
  std::size_t largest_call() const override;
  std::size_t largest_reply() const override;

  /// Gives a reply message to the call that waits for it; false if none does. What it grants counts
  /// before another call leaves.
  bool take_reply(View reply, std::optional<std::uint32_t> window = {});
  /// The peer refused the message of this call; false if no call waits under that XID.
  bool fail(std::uint32_t xid, const net::Error& error);
  /// How many calls the peer takes at a time. Zero would be a deadlock and counts as one (RFC 8166
  /// 3.3.1).
  void grant(std::uint32_t window);
  /// A call was sent and has no reply yet.
  bool waits() const { return in_flight_ > 0; }
  /// The connection is down: every call fails.
  void close();

 private:
  friend class CallbackTimers;
  struct Pending {
    std::uint32_t xid = 0;
    Bytes message;  // empty once it was sent
    Done done;
    std::chrono::steady_clock::time_point deadline;
    bool sent = false;
    std::optional<net::Error> error;  // completes the call in the next `run`
  };

  /// False when nothing is left to be watched.
  bool expire(std::chrono::steady_clock::time_point now);
  void send_some();
  void set_window(std::uint32_t window);
  void end(std::deque<Pending>::iterator call, const Expected<View, net::Error>& reply);
  std::deque<Pending>::iterator find(std::uint32_t xid);

  Sender* sender_;  // nothing after `close`
  CallbackTimers* timers_;
  std::uint32_t next_xid_;
  std::uint32_t window_;
  std::uint32_t in_flight_ = 0;
  bool watched_ = false;
  std::deque<Pending> calls_;  // oldest first
};

}  // namespace steertag::peer
