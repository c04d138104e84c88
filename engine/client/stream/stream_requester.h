// The requester of a client over TCP (RFC 5531 11): calls as records, several at a time.
// It also decides what happens when the connection is lost.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/rdma/client_transport.h"
#include "client/rdma/reconnect_pause.h"
#include "client/stream/record_buffer.h"
#include "net/reactor.h"
#include "net/url.h"

namespace steertag::peer {

/// Calls in flight: as many as Linux servers have slots for. It is enough for 16 MiB in flight in
/// pieces of 256 KiB.
inline constexpr std::uint32_t kDefaultStreamCalls = 64;
/// File data of all calls together: as with registered memory, so that both ways behave alike.
inline constexpr std::size_t kStreamTransferBytes = std::size_t{64} << 20;

/// Octets of a call or reply of the reverse direction, which a session's backchannel agrees on. A
/// record has room for more; a CB_NOTIFY_DEVICEID of some hundred devices fits.
inline constexpr std::size_t kStreamReverseBytes = 16384;

struct StreamRequesterOptions {
  std::uint32_t calls = kDefaultStreamCalls;
  std::uint32_t attempts = kMostAttempts;
  std::size_t record_bytes = rpc::kMostRecordOctets;  // largest reply
  std::chrono::milliseconds connect_timeout{5000};
};

struct StreamRequesterStatistics {
  std::uint64_t connections = 0;
  std::uint64_t calls = 0;          // sent, or begun to be sent
  std::uint64_t retransmitted = 0;  // those sent again, on a later connection
  std::uint64_t replies = 0;
  std::uint64_t reverse_calls = 0;  // of the server, that were answered
  std::uint64_t discarded = 0;      // records without effect
};

class StreamRequester final : public ClientTransport, private net::Channel {
 public:
  /// `first_xid` and the clock are taken from outside so that runs can repeat.
  static Expected<std::unique_ptr<StreamRequester>, net::Error> open(
      net::Url url, const StreamRequesterOptions& options, std::uint32_t first_xid,
      net::Clock clock = net::system_clock());
  ~StreamRequester() override;
  StreamRequester(const StreamRequester&) = delete;
  StreamRequester& operator=(const StreamRequester&) = delete;

  Expected<std::uint32_t, CallError> submit(Request request, CallCallback callback) override;
  void step(std::chrono::milliseconds timeout) override;
  /// Also drops the connection if a part of the call has been sent. Otherwise the server reads the
  /// octets of the next call as the rest of this one.
  void give_up(std::uint32_t xid, CallError error) override;
  std::size_t pending() const override { return outstanding_.size() + queue_.size(); }
  TransportLimits limits() const override { return {options_.calls, kStreamTransferBytes}; }
  int descriptor() const override { return reactor_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override;
  void abort_connection() override;
  std::optional<ReverseLimits> reverse_limits() const override {
    return ReverseLimits{kStreamReverseBytes, kStreamReverseBytes};
  }
  void serve_reverse(ReverseService* service) override { reverse_ = service; }
  std::uint64_t connection_number() const override { return statistics_.connections; }

  bool up() const { return state_ == State::up; }
  const StreamRequesterStatistics& statistics() const { return statistics_; }

 private:
  enum class State : std::uint8_t { none, connecting, up, down };
  struct Call {
    std::uint32_t xid = 0;
    Request request;
    CallCallback callback;
    std::array<std::byte, 4> mark{};
    std::size_t octets = 0;              // with the marking word
    std::uint32_t attempts = 0;          // connections on which it was sent
    std::uint32_t vain_connections = 0;  // in a row while it waited, which carried no call
    bool sent = false;                   // all of it, on the present connection
    bool is_answer = false;              // a reply to a call of the server
  };

  StreamRequester(net::Url url, const StreamRequesterOptions& options, std::uint32_t first_xid,
                  net::Reactor reactor);
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

  void start_connection();
  void try_next_address();
  void on_connected();
  void pump();
  void flush();
  void gather();
  void forget_sent(std::size_t octets);
  void receive();
  void handle(View record);
  /// A record that holds a call of the server, which has the connection for its backchannel.
  void answer(View record);
  void fail(std::string reason);
  void close();
  void requeue_all();
  void tell(const Call& call, Expected<CallReply, CallError> outcome);

  net::Url url_;
  StreamRequesterOptions options_;
  std::uint32_t next_xid_;
  net::Reactor reactor_;
  std::vector<net::Address> addresses_;  // that remain to be tried
  std::size_t next_address_ = 0;
  net::Socket socket_;
  net::Reactor::Key key_ = 0;
  State state_ = State::none;
  std::string down_reason_;
  ReconnectPause pause_;
  // The present connection, or the last.
  bool came_up_ = false;
  bool carried_call_ = false;
  std::deque<std::unique_ptr<Call>> queue_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Call>> outstanding_;
  std::deque<Call*> sending_;                  // calls and answers with octets that have not left
  std::size_t front_sent_ = 0;                 // octets of the first of them that have left
  std::deque<std::unique_ptr<Call>> answers_;  // those that are being sent, in order
  std::vector<View> parts_;                    // reused
  RecordBuffer received_;
  StreamRequesterStatistics statistics_;
  std::uint64_t callbacks_ = 0;
  bool unsettled_ = false;  // a call came since the last step
  ReverseService* reverse_ = nullptr;
};

}  // namespace steertag::peer
