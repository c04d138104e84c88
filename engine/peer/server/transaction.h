// One call under way on a connection of the server: what was received, what is pulled, what is
// sent.
#pragma once

#include "peer/chunk.h"
#include "peer/endpoint.h"
#include "peer/region_pool.h"
#include "peer/server/reply_payload.h"
#include "peer/server/reply_plan.h"
#include "wire/header.h"

namespace steertag::peer {

enum class TransactionState : std::uint8_t {
  idle,
  waiting,   // for pull memory
  pulling,   // RDMA Reads under way
  replying,  // RDMA Writes and the Send under way
};

/// Reused for call after call, so that its buffers keep their capacity.
struct Transaction {
  Transaction(std::uint32_t its_index, const Deviations& deviations)
      : index(its_index), plan(deviations) {}

  std::uint32_t index;  // also the tag of its operations
  TransactionState state = TransactionState::idle;
  ReceiveId receive = 0;
  bool holds_receive = false;
  View message;         // the whole Send, in its receive
  wire::Header header;  // its transport header
  View payload;         // its inline payload stream
  PullPlan pull;
  PooledRegion sink;
  std::uint32_t outstanding = 0;  // operations that were posted and have not completed
  ReplyPayload reply;
  ReplyPlan plan;
  Bytes error;  // an RDMA_ERROR message, or what a deviation sends besides
};

}  // namespace steertag::peer
