// An RPC program as the server runs it: one version of it, and its procedures.
#pragma once

#include <cstdint>
#include <span>

#include "peer/server/reply_payload.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::peer {

/// Who calls, as far as AUTH_SYS says; AUTH_NONE gives the anonymous user.
struct Caller {
  static constexpr std::uint32_t kAnonymous = 65534;
  std::uint32_t uid = kAnonymous;
  std::uint32_t gid = kAnonymous;
  std::span<const std::uint32_t> gids;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual std::uint32_t number() const = 0;
  virtual std::uint32_t version() const = 0;
  /// Runs a procedure. `arguments` is at the first argument of the unreduced call. With
  /// AcceptStatus::SUCCESS the results were appended to `reply`; with any other status nothing was
  /// executed and `reply` holds nothing of use.
  virtual rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                                 const Caller& caller, ReplyPayload& reply) = 0;
};

}  // namespace steertag::peer
