// What the connections of a server's plain TCP transport share.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "net/reactor.h"
#include "rpc/record.h"
#include "server/rdma/reply_payload.h"
#include "server/server_context.h"
#include "server/stream/record_budget.h"

namespace steertag::peer {

/// A message on its way out, in parts that are gathered when it is sent. A marking word comes
/// first, then the payload. Its eligible items stay in the storage's memory until they have left.
struct OutgoingMessage {
  std::array<std::byte, 4> mark{};
  ReplyPayload payload;
  std::size_t octets = 0;      // with the marking word
  std::size_t held_bytes = 0;  // what it has of the reply budget
};

struct StreamRuntime {
  StreamRuntime(ServerContext& its_context, net::Reactor its_reactor)
      : context(its_context),
        reactor(std::move(its_reactor)),
        records(std::max(context.options.pull_budget_bytes, kLargestStreamRecord)) {}

  ServerContext& context;
  net::Reactor reactor;
  RecordBudget records;
  Bytes read_buffer;  // kStreamReadBytes once it is used
  // One for the next record in parts. Without it each large record would be memory that is new to
  // the process. It is beside the budget of records: kLargestStreamRecord at most.
  std::unique_ptr<rpc::RecordReader> spare_reader;
  std::vector<View> parts;                              // reused while sending
  std::vector<std::unique_ptr<OutgoingMessage>> spare;  // at most kKeptMessages
  std::vector<std::uint64_t> ended;                     // connections that are down
  std::chrono::steady_clock::time_point slice_end;      // of the connection that has its turn
  std::size_t notices = 0;                              // of the current poll
};

}  // namespace steertag::peer
