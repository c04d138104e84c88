// What becomes of an RPC call: a reply, ERR_CHUNK, or no answer.
#pragma once

#include <cstdint>

namespace steertag::peer {

enum class Outcome : std::uint8_t {
  reply,        // the ReplyPayload holds the payload stream
  chunk_error,  // RDMA_ERROR/ERR_CHUNK
  discard,      // no answer
};

}  // namespace steertag::peer
