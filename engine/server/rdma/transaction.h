// One call in progress on a connection of the server: what it received, pulls and sends.
#pragma once

#include "endpoint/chunk.h"
#include "endpoint/endpoint.h"
#include "endpoint/region_pool.h"
#include "server/rdma/reply_payload.h"
#include "server/rdma/reply_plan.h"
#include "server/rpc/failed_calls.h"
#include "server/rpc/program.h"
#include "wire/header.h"

namespace steertag::peer {

enum class TransactionState : std::uint8_t {
  idle,
  waiting,   // for pull memory
  pulling,   // RDMA Reads under way
  pulled,    // waits until it may be executed
  held,      // executed, and what its reply depends on has not happened
  replying,  // RDMA Writes and the Send under way
};

/// A stretch of operations that one call posts.
enum class Stretch : std::uint8_t { reads, writes, send, error };

/// What a call posts, and how far that is. Operations beyond kMostPostedOperations of a connection
/// wait here, where they cost nothing.
struct Posting {
  std::vector<Stretch> stretches;
  std::size_t stretch = 0;
  std::size_t next = 0;           // within the stretch
  std::uint32_t outstanding = 0;  // operations that were posted and have not completed

  void clear() {
    stretches.clear();
    stretch = next = 0;
    outstanding = 0;
  }
};

/// Reused for call after call, so that its buffers keep their capacity.
struct Transaction {
  explicit Transaction(std::uint32_t its_index) : index(its_index) {}

  std::uint32_t index;  // also the tag of its operations
  TransactionState state = TransactionState::idle;
  ArrivalTime arrived{};
  ReceiveId receive = 0;
  bool holds_receive = false;
  View message;         // the whole Send, in its receive
  wire::Header header;  // its transport header
  View payload;         // its inline payload stream
  Bytes rpc_call;       // the rebuilt call, for an interposer only
  PullPlan pull;
  PooledRegion sink;
  bool sink_is_unproven = false;  // the connection was not proven when it got the sink
  Posting posting;
  ReplyPayload reply;
  std::size_t reply_bytes = 0;  // what it has of the reply budget
  ReplyPlan plan;
  Bytes error;    // an RDMA_ERROR message
  CallId pushed;  // the call, once its reply has RDMA Writes

  /// Moves on to the next operation that is to be posted; true when there is none.
  bool all_posted() {
    while (posting.stretch < posting.stretches.size() &&
           posting.next == operations(posting.stretches[posting.stretch]))
      ++posting.stretch, posting.next = 0;
    return posting.stretch == posting.stretches.size();
  }
  std::size_t operations(Stretch stretch) const {
    if (stretch == Stretch::reads) return pull.reads.size();
    return stretch == Stretch::writes ? plan.writes().size() : 1;
  }
  /// Whether its lists have grown beyond what an idle connection should keep.
  bool is_heavy() const {
    return header.read_list.size() + header.write_list.segment_count() + header.reply_chunk.size() +
               pull.reads.size() + plan.writes().size() >
           kKeptParts;
  }
};

}  // namespace steertag::peer
