// What the connections of a server's plain TCP transport share.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "net/reactor.h"
#include "server/rdma/reply_payload.h"
#include "server/server_context.h"

namespace steertag::peer {

/// A message on its way out, in parts that are gathered when it is sent. A marking word comes
/// first, then the payload. Its eligible items stay in the storage's memory until they have left.
struct OutgoingMessage {
  std::array<std::byte, 4> mark{};
  ReplyPayload payload;
  std::size_t octets = 0;      // with the marking word
  std::size_t held_bytes = 0;  // what it has of the reply budget
};

/// Memory for records that have not arrived completely. It is taken for octets that have arrived,
/// because a length costs nothing to announce. Room for one of the largest records is set aside, so
/// that what was begun can always end. It goes to one record at a time, whatever the others hold.
class RecordBudget {
 public:
  /// `budget_bytes` is at least kLargestStreamRecord.
  explicit RecordBudget(std::size_t budget_bytes)
      : shared_bytes_(budget_bytes - kLargestStreamRecord) {}
  bool has_room(std::size_t octets) const { return octets <= shared_bytes_ - taken_bytes_; }
  void take(std::size_t octets) { taken_bytes_ += octets; }
  void give_back(std::size_t octets) { taken_bytes_ -= octets; }
  /// False while another record has what is set aside.
  bool take_set_aside() { return !std::exchange(set_aside_taken_, true); }
  void give_back_set_aside() { set_aside_taken_ = false; }

 private:
  std::size_t shared_bytes_;
  std::size_t taken_bytes_ = 0;
  bool set_aside_taken_ = false;
};

class StreamConnection;

/// A connection whose record has to grow by so many octets, for which there is no memory yet.
struct WaitingRecord {
  StreamConnection* connection;
  std::size_t octets;
};

struct StreamRuntime {
  StreamRuntime(ServerContext& its_context, net::Reactor its_reactor)
      : context(its_context),
        reactor(std::move(its_reactor)),
        records(std::max(context.options.pull_budget_bytes, kLargestStreamRecord)) {}

  ServerContext& context;
  net::Reactor reactor;
  RecordBudget records;
  std::deque<WaitingRecord> waiting;                    // in their order
  Bytes read_buffer;                                    // kStreamReadBytes once it is used
  std::vector<View> parts;                              // reused while sending
  std::vector<std::unique_ptr<OutgoingMessage>> spare;  // at most kKeptMessages
  std::vector<std::uint64_t> ended;                     // connections that are down
  std::chrono::steady_clock::time_point slice_end;      // of the connection that has its turn
  std::size_t notices = 0;                              // of the current poll
};

}  // namespace steertag::peer
