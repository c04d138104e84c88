// One TCP connection of the server (RFC 5531 11): records become calls, calls become replies.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "peer/server/stream/stream_runtime.h"
#include "rpc/record.h"

namespace steertag::peer {

class StreamConnection final : private net::Channel {
 public:
  /// `runtime` must outlive the connection. Once it is down, `id` appears in `runtime.ended`.
  StreamConnection(StreamRuntime& runtime, std::uint64_t id, net::Socket socket,
                   const net::Address& peer);
  ~StreamConnection() override;
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  Expected<void, net::Error> start();

 private:
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

  // What comes in.
  void receive();
  /// Takes records off the start of `octets` and returns how many octets were taken: less than all
  /// only when the connection is held back or down.
  std::size_t take_records(View octets);
  void take_record(View record);
  void answer(View call);
  void on_end_of_stream();

  // What goes out.
  std::unique_ptr<OutgoingMessage> take_message();
  void queue(std::unique_ptr<OutgoingMessage> message);
  void flush();
  /// The first parts of what waits, as many as are given to the system at a time.
  void gather();
  void forget_sent(std::size_t octets);
  void retire(std::unique_ptr<OutgoingMessage> message);

  /// False while replies pile up because the client does not take them.
  bool may_execute() const;
  void go_on();
  void set_watch();
  void set_deadline();
  /// The named limit that has passed, if one has.
  std::optional<net::Error> overdue() const;
  /// Ends the connection because of what the client did, or did not do, and says so.
  void drop(const net::Error& why);
  void go_down();

  StreamRuntime& runtime_;
  std::uint64_t id_;
  net::Socket socket_;
  net::Address peer_;
  Origin origin_;
  net::Reactor::Key key_ = 0;
  std::unique_ptr<rpc::RecordReader> reader_;  // while a record is incomplete
  Bytes held_;                                 // octets that wait until calls may be executed
  std::size_t held_taken_ = 0;                 // of which these are done with
  std::deque<std::unique_ptr<OutgoingMessage>> outgoing_;
  std::size_t front_sent_ = 0;  // octets of the first message that have left
  std::size_t reply_bytes_ = 0;
  net::Time record_begun_ = 0;
  net::Time last_received_ = 0;
  net::Time last_sent_ = 0;  // or the time at which there was something to send again
  bool reads_ = true;        // more octets are wanted
  bool ended_ = false;       // the client sends no more
  bool down_ = false;
};

}  // namespace steertag::peer
