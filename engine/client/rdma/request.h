// One call as a client hands it over, whatever carries it to the server.
#pragma once

#include <cstdint>
#include <vector>

#include "client/rdma/call_form.h"
#include "nfs/reply_size.h"
#include "support/bytes.h"

namespace steertag::peer {

/// What to call. `stream` is the RPC call from its XID on without the eligible argument, whose
/// octets (if there are any) go at its end. `item` must stay until the callback.
struct Request {
  Bytes stream;
  bool has_item = false;
  View item;
  nfs::ReplySize reply;
  /// Octets of each eligible result, where a call has several. Each takes a write chunk of its own,
  /// if any does. `reply.eligible` is their sum.
  std::vector<std::size_t> results{};
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  FormWish wish;  // for RPC-over-RDMA only
};

}  // namespace steertag::peer
