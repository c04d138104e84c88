// Calls of direct access as a client makes them, and the results of its READ.
#pragma once

#include "client/rdma/call_builder.h"
#include "nfs/direct/binding.h"

namespace steertag::peer {

/// A call with room for the largest reply to its arguments.
template <class Args>
Request direct_call(direct::Procedure procedure, const Args& args, const Identity& identity) {
  Request request = inline_call(direct::kProgram, direct::kVersion,
                                static_cast<std::uint32_t>(procedure), args, identity);
  request.reply = direct::largest_reply(args);
  return request;
}

/// The results of READ, whose data may have come in a write chunk. The data are those of the reply.
Expected<direct::ReadResult, CallError> decode_direct_read(const CallReply& reply);

/// BATCH, with a write chunk for each of its READs if one of them needs one.
Request batch_call(const direct::BatchArgs& args, const Identity& identity);
/// Its results.
Expected<direct::BatchResult, CallError> decode_direct_batch(const CallReply& reply);

}  // namespace steertag::peer
