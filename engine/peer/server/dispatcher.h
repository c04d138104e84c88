// From a rebuilt RPC call to the payload stream of its reply: RPC header, credential, upper-layer
// binding, program (RFC 5531, RFC 8166 6.1, RFC 8267 4).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "peer/chunk.h"
#include "peer/deviation.h"
#include "peer/server/program.h"

namespace steertag::peer {

enum class Outcome : std::uint8_t {
  reply,        // `reply` holds the payload stream
  chunk_error,  // RDMA_ERROR/ERR_CHUNK
  discard,      // no answer
};

class Dispatcher {
 public:
  /// Of two programs with one number and version the first counts. `deviations` must outlive the
  /// dispatcher.
  Dispatcher(std::vector<std::unique_ptr<Program>> programs, const Deviations& deviations);

  /// Executes `call`, unreduced, whose header carried `xid` and from which the items at `chunks`
  /// had been reduced. Nothing is executed unless every chunk is the eligible argument (RFC
  /// 8166 6.1).
  Outcome run(std::uint32_t xid, View call, std::span<const ReadChunk> chunks, ReplyPayload& reply);
  /// The answer to a call whose chunks and payload stream do not fit together, so that there are no
  /// arguments (RFC 8166 4.5.2).
  Outcome refuse_arguments(std::uint32_t xid, ReplyPayload& reply) const;

 private:
  using Versions = std::map<std::uint32_t, std::unique_ptr<Program>>;  // of one program

  Outcome refuse(const rpc::ReplyHeader& header, ReplyPayload& reply) const;
  /// AUTH_OK, or why the credential is not taken. The caller's groups live until the next call.
  rpc::AuthStatus identify(const rpc::OpaqueAuth& credential, Caller& caller);
  std::map<std::uint32_t, Versions> programs_;  // by number
  const Deviations& deviations_;
  rpc::AuthSys auth_sys_;  // reused
};

}  // namespace steertag::peer
