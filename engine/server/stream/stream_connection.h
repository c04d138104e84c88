// One TCP connection of the server (RFC 5531 11): records become calls, calls become replies.
#pragma once

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <optional>

#include "rpc/record.h"
#include "server/stream/stream_runtime.h"

namespace steertag::peer {

class StreamConnection final : private net::Channel, private ConnectionBackchannel::Sender {
 public:
  /// `runtime` must outlive the connection. Once it is down, `id` appears in `runtime.ended`.
  StreamConnection(StreamRuntime& runtime, std::uint64_t id, net::SourceQuota::Slot slot,
                   net::Socket socket, const net::Address& peer);
  ~StreamConnection() override;
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  Expected<void, net::Error> start();
  /// Reads on with the record that waited.
  void stop_waiting(const RecordBudget::Grant& grant);
  /// Others wait for memory, and the last look was `step` ago. Ends the connection if it has memory
  /// for a record that got less than kLeastProgressBytes in kContendedWait.
  void drop_if_stalled(net::Time step);
  /// No other connection waits for memory.
  void forget_stall();

 private:
  /// RFC 5531 7.1: the XIDs of the two directions have nothing to do with each other.
  static constexpr std::uint32_t kFirstCallbackXid = 1;

  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

  void begin_turn();
  bool slice_over() const;

  // What comes in.
  void receive();
  /// Takes records off the start of `octets` and returns how many octets it took. They are less
  /// than all only when the connection is held back or down, or its turn is over.
  std::size_t take_records(View octets);
  void take_record(View record);
  /// Whether the interposer has settled what becomes of the call, which it may replace, or has
  /// ended the connection.
  bool decided_by_interposer(View& call, OutgoingMessage& message, Outcome& outcome);
  void answer(View call);
  void on_end_of_stream();
  /// A record starts with `octets`, and a part of it is still to come.
  void begin_partial_record(View octets);
  /// Memory for so many octets more of it. False if it has to wait for that.
  bool make_room(std::size_t octets);
  void grow(std::size_t octets);
  void end_partial_record();

  // The other direction.
  bool send_callback(Bytes message) override;
  std::size_t largest_callback() const override { return kLargestStreamRecord; }
  std::size_t largest_callback_reply() const override { return kLargestStreamRecord; }

  // What goes out.
  std::unique_ptr<OutgoingMessage> take_message();
  void queue(std::unique_ptr<OutgoingMessage> message, bool last_fragment = true);
  /// Queues the reply once what it depends on has happened.
  void hold(std::unique_ptr<OutgoingMessage> message, bool last_fragment);
  void flush();
  /// The first parts of what waits, as many as are given to the system at a time.
  void gather();
  void forget_sent(std::size_t octets);
  void retire(std::unique_ptr<OutgoingMessage> message);

  /// False while replies pile up because the client does not take them.
  bool may_execute() const;
  bool may_take_records() const { return !waits_ && may_execute(); }
  void go_on();
  void set_watch();
  void set_deadline();
  /// Whether nothing goes on before the client takes replies. Either some wait, or calls that had
  /// to leave their turn to others wait for room in the socket.
  bool awaits_room() const { return !outgoing_.empty() || wants_turn_; }
  net::Time room_awaited() const {
    return wants_turn_ ? std::max(last_sent_, turn_wanted_at_) : last_sent_;
  }
  /// The named limit that has passed, if one has.
  std::optional<net::Error> overdue() const;
  /// Ends the connection because of what the client did, or did not do, and says so.
  void drop(const net::Error& why);
  void go_down();

  StreamRuntime& runtime_;
  std::uint64_t id_;
  net::SourceQuota::Slot slot_;
  net::Socket socket_;
  net::Address peer_;
  net::Source source_;
  std::shared_ptr<ConnectionBackchannel> callbacks_;
  ConnectionInfo info_;
  Bytes replaced_;  // the call that an interposer has put in place of the one under way
  net::Reactor::Key key_ = 0;
  std::unique_ptr<rpc::RecordReader> reader_;  // while a record is incomplete
  std::size_t largest_ = 0;                    // octets that this record can have
  std::size_t reserved_ = 0;                   // of the memory for such records
  bool has_set_aside_ = false;                 // of that memory
  bool waits_ = false;                         // for such memory
  bool proven_ = false;                        // a whole record has come
  std::uint64_t record_octets_ = 0;            // of such records, that have come
  std::uint64_t octets_before_ = 0;            // of these, when the stall began
  net::Time still_for_ = 0;                    // the time in which hardly any came
  Bytes held_;                                 // octets that wait until they may be taken
  std::size_t held_taken_ = 0;                 // those of them that are done
  std::deque<std::unique_ptr<OutgoingMessage>> outgoing_;
  /// Replies that may not leave yet.
  std::list<std::unique_ptr<OutgoingMessage>> held_replies_;
  std::size_t front_sent_ = 0;  // octets of the first message that have left
  std::size_t reply_bytes_ = 0;
  net::Time record_begun_ = 0;
  net::Time last_received_ = 0;
  net::Time last_sent_ = 0;  // or the time at which there was something to send again
  net::Time turn_wanted_at_ = 0;
  bool wants_turn_ = false;  // calls are held whose turn was over
  bool reads_ = true;        // more octets are wanted
  bool ended_ = false;       // the client sends no more
  bool down_ = false;
};

}  // namespace steertag::peer
