// How a reference server shall be, and what it refuses to be.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "endpoint/deadline_clock.h"
#include "endpoint/limits.h"
#include "fabric/iwarp/policy.h"
#include "fabric/roce/packets/policy.h"
#include "server/direct/policy.h"
#include "server/interposer.h"
#include "server/policy.h"
#include "server/rpc/reply_gate.h"
#include "server/rpc/squash.h"
#include "server/stream/limits.h"
#include "server/v4/pnfs/policy.h"
#include "support/expected.h"
#include "wire/private_data.h"

namespace steertag::peer {

class DirectAccess;

struct ServerOptions {
  std::uint32_t credits = kDefaultCredits;  // granted in every reply; 1 .. kMostCredits
  wire::PrivateData announced{true, kDefaultAnnouncedBytes, kDefaultAnnouncedBytes};
  /// Receives that all connections of one provider share; 0: each has receives for its credits. The
  /// pool may be far smaller than the credits that they were granted together.
  std::uint32_t shared_receives = 0;
  bool sends_private_data = true;
  bool crc = true;  // over iwarp: it asks for CRC32C; one side that asks is enough (RFC 5044 4.4)
  std::chrono::milliseconds idle_timeout = kIdleTimeout;  // 0: none
  std::size_t most_connections = kMostConnections;
  std::size_t most_connections_of_source = kMostConnectionsOfSource;
  std::size_t pull_budget_bytes = kPullBudgetBytes;
  StreamTimeouts stream_timeouts;
  std::chrono::milliseconds time_slice = kTimeSlice;  // of a connection over TCP
  std::size_t reply_budget_bytes = kReplyBudgetBytes;
  RecordPolicy records;
  RetryPolicy retries;
  /// For who makes the programs.
  StatePolicy states;
  fabric::iwarp::Policy iwarp;
  fabric::roce::Policy roce;
  Squash squash;
  DeadlineClock clock = std::chrono::steady_clock::now;
  /// Takes the optimistic connections of direct access. None: they are connections like others.
  std::shared_ptr<DirectAccess> direct;
  /// For who makes `direct`.
  DirectPolicy direct_policy;
  /// What replies of its programs may have to wait for. None: no reply has tickets.
  std::shared_ptr<const ReplyGate> gate;
  /// For who makes data servers.
  PnfsPolicy pnfs_policy;
  /// The address by which clients reach them, if it is another than they listen at. Empty: none.
  std::string data_server_host;
  /// The first of their ports: each data server has as many as there are places to listen at, in
  /// their order. 0: free ones.
  std::uint16_t first_data_server_port = 0;
  /// They listen at one place, over TCP, wherever the metadata server does.
  bool data_servers_by_tcp = false;
  /// The metadata server is the last of them (RFC 8881 13.1).
  bool has_both_roles = false;
  std::shared_ptr<Interposer> interposer;  // none: nothing comes between server and wire
  /// Makes the interposer of each data server in this process. Empty: they have none.
  std::function<std::shared_ptr<Interposer>()> data_server_interposer;
};

/// One sentence about what makes these options impossible.
Expected<void, std::string> check(const ServerOptions& options);

/// An idle time-out given in seconds, 0 for none: rounded up to milliseconds, at most a day. The
/// error is one sentence.
Expected<std::chrono::milliseconds, std::string> idle_timeout_of(double seconds);

}  // namespace steertag::peer
