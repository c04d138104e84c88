// The requester of a client over plain TCP (RFC 5531 11): many calls under way at a time, replies
// in any order, calls of the server on the same connection.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/pollable.h"
#include "net/reactor.h"
#include "peer/client/call_result.h"
#include "rpc/record.h"

namespace steertag::peer {

struct StreamClientOptions {
  /// For each address of the server.
  std::chrono::milliseconds connect_timeout{5000};
  /// From a call to its reply.
  std::chrono::milliseconds call_timeout{30'000};
  /// Further calls fail with CallErrc::too_many_calls: as many as the slots that a Linux client
  /// uses on one TCP connection at most.
  std::size_t most_calls = 65536;
  std::size_t largest_record = rpc::kMostRecordOctets;
};

/// A message in parts that are sent as one record: headers and arguments in `stream`, and octets
/// that stay where they are.
struct StreamMessage {
  Bytes stream;
  View item;  // follows `stream`, with roundup; must stay until the reply
};

/// Works inside `poll`; all callbacks come from there, and none may destroy the client. There is
/// one connection: when it ends every call fails with CallErrc::connection_lost, and so do later
/// ones. A call that took too long ends the connection, because its reply could still come.
class StreamClient final : public net::Pollable, private net::Channel {
 public:
  /// The whole RPC reply message, valid during the call.
  using Done = std::function<void(const Expected<View, CallError>& reply)>;
  /// A call of the server (RFC 8881 2.10.3.1); its reply goes to `reply`.
  using ServerCall = std::function<void(View call)>;

  /// Starts to connect. `first_xid` is taken from outside so that runs can repeat.
  static Expected<std::unique_ptr<StreamClient>, net::Error> open(
      const net::Url& url, const StreamClientOptions& options, std::uint32_t first_xid,
      net::Clock clock = net::system_clock());
  ~StreamClient() override;
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  /// Sends an encoded RPC call, whose XID is replaced. `done` is called exactly once, unless the
  /// client is destroyed before.
  void call(StreamMessage message, Done done);
  void call(Bytes message, Done done) {
    call(StreamMessage{std::move(message), {}}, std::move(done));
  }
  /// Sends `message`, an RPC reply.
  void reply(Bytes message) { queue({std::move(message), {}}); }
  void set_server_call(ServerCall server_call) { server_call_ = std::move(server_call); }
  /// No further calls: the server sees the end of our half of the stream.
  void end();

  bool up() const { return state_ == State::up; }
  bool down() const { return state_ == State::down; }
  std::size_t pending() const { return pending_.size(); }
  /// Calls, or replies, that have not left.
  std::size_t unsent() const { return outgoing_.size(); }

  std::size_t poll(std::chrono::milliseconds timeout) override;
  void wake() override { reactor_.wake(); }
  int descriptor() const override { return reactor_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return failed_.empty() ? reactor_.idle_for(most) : std::chrono::milliseconds{0};
  }

 private:
  enum class State : std::uint8_t { connecting, up, down };
  struct Outgoing {
    std::array<std::byte, rpc::kRecordMarkOctets> mark{};
    StreamMessage message;
    std::size_t octets = 0;  // with mark and roundup
  };
  struct Pending {
    Done done;
    net::Time deadline = net::kNever;
  };
  struct Failed {
    Done done;
    CallError error;
  };

  StreamClient(std::vector<net::Address> addresses, const StreamClientOptions& options,
               std::uint32_t first_xid, net::Reactor reactor);
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;
  void connect_next();
  void finish_connecting();
  void receive();
  void take_records(View octets);
  void take_record(View record);
  void queue(StreamMessage message);
  void flush();
  void set_watch();
  void set_deadline();
  void fail(CallErrc code, const std::string& why);
  void tell_failed();

  std::vector<net::Address> addresses_;  // in the order in which they are tried
  std::size_t next_address_ = 0;
  StreamClientOptions options_;
  std::uint32_t next_xid_;
  net::Reactor reactor_;
  net::Socket socket_;
  net::Reactor::Key key_ = 0;
  State state_ = State::connecting;
  net::Time connect_deadline_ = net::kNever;
  std::string last_refusal_;
  std::string down_reason_;
  ServerCall server_call_;
  std::unordered_map<std::uint32_t, Pending> pending_;
  std::deque<std::pair<net::Time, std::uint32_t>> deadlines_;  // of calls, soonest first
  std::vector<Failed> failed_;                                 // are told in poll
  std::deque<Outgoing> outgoing_;
  std::size_t front_sent_ = 0;
  bool ending_ = false;
  rpc::RecordReader reader_;
  Bytes read_buffer_;
  std::size_t notices_ = 0;
};

}  // namespace steertag::peer
