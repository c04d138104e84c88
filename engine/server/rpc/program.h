// An RPC program as the server runs it: one version of it, and its procedures.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "net/socket.h"
#include "rpc/message.h"
#include "server/rdma/backchannel.h"
#include "server/rdma/reply_payload.h"
#include "wire/xdr.h"

namespace steertag::peer {

/// Who calls, as far as AUTH_SYS says; AUTH_NONE gives the anonymous user.
struct Caller {
  static constexpr std::uint32_t kAnonymous = 65534;
  std::uint32_t uid = kAnonymous;
  std::uint32_t gid = kAnonymous;
  std::span<const std::uint32_t> gids;
};

/// The connection over which a call arrived.
struct ConnectionInfo {
  std::uint64_t id = 0;   // never used again by this process
  bool rdma = false;      // RPC-over-RDMA, not a byte stream
  std::string peer_host;  // without the port
  /// Calls through it fail once the connection is down.
  std::weak_ptr<Backchannel> backchannel;
  std::uint16_t peer_port = 0;
  net::Address peer{};  // over RDMA alone
  /// Over RDMA: the slots that can be in use of a session made here. A credit bounds each call, and
  /// one call may go beside them over TCP (RFC 8881 2.10.3.1). 0: no limit.
  std::uint32_t most_slots = 0;
};

/// When a call came. One with read chunks is executed later: its client delivers them first.
using ArrivalTime = std::chrono::steady_clock::time_point;
inline constexpr ArrivalTime kJustArrived = ArrivalTime::max();

/// What a procedure may know beside its arguments. Both are valid during the call only.
struct CallContext {
  const Caller& caller;
  const ConnectionInfo& connection;
  ArrivalTime arrived = kJustArrived;
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
                                 const CallContext& context, ReplyPayload& reply) = 0;
  /// False for a call that must not be executed again when its client repeats it after a lost
  /// reply. Not needed for a call that the program recognizes itself. `arguments` as in `call`.
  virtual bool is_idempotent(std::uint32_t /*procedure*/, wire::Reader /*arguments*/) const {
    return true;
  }
  /// What a reply has to wait for that repeats an earlier one.
  virtual Tickets pending() const { return {}; }
  /// What falls due by time and not by a call; cheap, and called between calls.
  virtual void tend() {}
};

}  // namespace steertag::peer
