// Replies to calls that must not be executed twice (RFC 1813 4.5, RFC 7530 3.1.1).
// A client that has lost its connection sends them again over the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "endpoint/deadline_clock.h"
#include "server/policy.h"
#include "server/rpc/program.h"

namespace steertag::peer {

/// Calls and replies that are remembered: seconds of what busy clients change in directories.
inline constexpr std::size_t kMostKeptReplies = 4096;
/// Octets of these calls and replies together.
inline constexpr std::size_t kMostKeptReplyBytes = std::size_t{8} << 20;
/// Octets of one call with its reply: names have 255, the texts of links some hundreds. A longer
/// call is executed again.
inline constexpr std::size_t kLargestKeptCall = 8192;
/// Octets of a call that is small (RetryPolicy::keeps_large).
inline constexpr std::size_t kSmallCall = 512;
/// Clients have given up a connection, made another and sent again by then: twice a minute, which
/// is what they wait for a reply.
inline constexpr std::chrono::seconds kKeptReplyLifetime{120};

/// A retry is the same call octet for octet, XID and credential included, from the same host over
/// another connection. No client sends a call twice over one connection, where an equal XID is a
/// new call.
class DuplicateRequestCache {
 public:
  explicit DuplicateRequestCache(DeadlineClock clock, const RetryPolicy& policy = {})
      : clock_(std::move(clock)), policy_(policy) {}

  /// The reply to the call that this one repeats, valid until the next `keep`; nullptr: it is none.
  const Bytes* find(View call, const ConnectionInfo& info);
  void keep(View call, const ConnectionInfo& info, View reply);

 private:
  struct Call {
    std::string host;
    std::uint64_t connection = 0;
    std::uint16_t port = 0;
    Bytes octets;  // what a retry has in common with it
    Bytes reply;
    std::chrono::steady_clock::time_point until;

    std::size_t size() const { return octets.size() + reply.size(); }
  };
  using Calls = std::list<Call>;

  /// The octets by which a retry of this call is known.
  View key_of(View call) const;
  /// The call from this host with this key.
  Calls::iterator find(View key, const std::string& host);
  bool is_retry(const Call& first, const ConnectionInfo& info) const;
  const Bytes& last_reply_as(View call);
  void forget(Calls::iterator call);
  void forget_old();

  DeadlineClock clock_;
  const RetryPolicy policy_;
  Calls calls_;                                                      // oldest first
  std::unordered_multimap<std::size_t, Calls::iterator> by_octets_;  // by their hash
  std::size_t bytes_ = 0;
};

}  // namespace steertag::peer
