// From an RPC call to the payload stream of its reply: RPC header, credential, program (RFC 5531).
// Knows nothing of how the call came.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "server/rpc/duplicate_request_cache.h"
#include "server/rpc/program.h"
#include "server/rpc/squash.h"

namespace steertag::peer {

/// A call whose program was found, so that it can be executed.
struct AdmittedCall {
  View octets;  // all of the call
  std::uint32_t xid = 0;
  std::uint32_t procedure = 0;
  Caller caller;  // its groups live until the next call is admitted
  Program* program = nullptr;
  ArrivalTime arrived = kJustArrived;
  wire::Reader arguments{View()};  // into the call
};

class Dispatcher {
 public:
  /// Of two programs with one number and version the first counts.
  explicit Dispatcher(std::vector<std::unique_ptr<Program>> programs, const Squash& squash = {},
                      DeadlineClock clock = std::chrono::steady_clock::now,
                      const RetryPolicy& retries = {});

  /// Nothing when the call is refused; `reply` holds the refusal then. `call` is whole and
  /// unreduced, and must be a call by its message type.
  std::optional<AdmittedCall> admit(View call, ReplyPayload& reply);
  /// Runs the call, unless it repeats one that must not be executed again; `reply` holds its reply.
  void execute(AdmittedCall& call, const ConnectionInfo& info, ReplyPayload& reply);
  /// The reply to a call whose arguments cannot be understood.
  static void refuse_arguments(std::uint32_t xid, ReplyPayload& reply);

  /// Lets every program do what falls due by time.
  void tend();

 private:
  using Versions = std::map<std::uint32_t, std::unique_ptr<Program>>;  // of one program
  static void run(AdmittedCall& call, const ConnectionInfo& info, ReplyPayload& reply);

  /// AUTH_OK, or why the credential is not taken. The caller's groups live until the next call.
  rpc::AuthStatus identify(const rpc::OpaqueAuth& credential, Caller& caller);
  std::map<std::uint32_t, Versions> programs_;  // by number
  DuplicateRequestCache duplicates_;
  bool executes_once_;
  Squash squash_;
  rpc::AuthSys auth_sys_;  // reused
};

}  // namespace steertag::peer
