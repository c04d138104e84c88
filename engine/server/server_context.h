// What all connections of one server share, whatever their transport.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/error.h"
#include "net/source_quota.h"
#include "server/rdma/connection_backchannel.h"
#include "server/rdma/rdma_dispatch.h"
#include "server/rdma/reply_budget.h"
#include "server/rpc/failed_calls.h"
#include "server/server_options.h"
#include "wire/private_data.h"

namespace steertag::peer {

/// Counts since the server started.
struct ServerStatistics {
  std::uint64_t connections = 0;
  std::uint64_t refused_connections = 0;
  std::uint64_t messages = 0;
  std::uint64_t replies = 0;
  std::uint64_t errors = 0;  // RDMA_ERROR messages
  std::uint64_t discarded = 0;
  std::uint64_t pulled_bytes = 0;
  std::uint64_t pushed_bytes = 0;
  std::uint64_t dropped_connections = 0;  // see TroubleCallback
};

/// Gets each connection that did not come up, and each that ends because its client passed a limit.
/// Of those refused because there are too many, it gets the first of each burst.
/// Over plain TCP it also gets each that ends because its octets are no RPC. `peer` is empty where
/// no peer could be told apart. Must not destroy the server.
using TroubleCallback = std::function<void(const std::string& peer, const net::Error& error)>;

struct ServerContext {
  ServerContext(std::vector<std::unique_ptr<Program>> programs, ServerOptions its_options,
                TroubleCallback its_on_trouble)
      : options(std::move(its_options)),
        on_trouble(std::move(its_on_trouble)),
        connections({.most = options.most_connections,
                     .of_source = options.most_connections_of_source,
                     .early_drop = options.most_connections},
                    {}),
        dispatcher(std::move(programs), options.squash, options.clock, options.retries),
        replies(options.reply_budget_bytes),
        held(options.gate.get()),
        failed_calls(options.clock),
        callbacks(options.clock) {}

  /// A place for a connection of this peer; none if there are too many. The first refusal of each
  /// burst is reported.
  std::optional<net::SourceQuota::Slot> admit(const net::Address& peer) {
    auto slot = connections.admit(peer);
    if (slot) return std::move(*slot);
    ++statistics.refused_connections;
    if (slot.error().begins_burst && on_trouble)
      on_trouble(peer.text(), {net::Errc::too_many_connections, std::move(slot.error().reason)});
    return std::nullopt;
  }

  const ServerOptions options;
  const TroubleCallback on_trouble;
  net::SourceQuota connections;  // of all transports, which it outlives
  Dispatcher dispatcher;
  ReplyBudget replies;
  HeldReplies held;
  FailedCalls failed_calls;
  CallbackTimers callbacks;
  ServerStatistics statistics;
  std::uint64_t next_connection = 1;
  bool has_streams = false;  // it listens over TCP too: such a connection may join any session
};

}  // namespace steertag::peer
