// What the connections of one server share.
#pragma once

#include <memory>

#include "peer/region_pool.h"
#include "peer/server/callback_calls.h"
#include "peer/server/failed_calls.h"
#include "peer/server/pull_queue.h"
#include "peer/server/rdma_dispatch.h"
#include "peer/server/reply_budget.h"
#include "peer/server/server_options.h"

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
};

struct ServerContext {
  ServerContext(fabric::Provider& its_provider, std::vector<std::unique_ptr<Program>> programs,
                ServerOptions its_options)
      : provider(its_provider),
        options(std::move(its_options)),
        dispatcher(std::move(programs)),
        domain(provider.make_domain()),
        pool(*domain, options.pull_budget_bytes),
        replies(options.reply_budget_bytes),
        failed_calls(options.clock),
        callbacks(options.clock) {}

  fabric::Provider& provider;
  const ServerOptions options;
  Dispatcher dispatcher;
  std::unique_ptr<fabric::Domain> domain;
  RegionPool pool;
  PullQueue pulls;
  ReplyBudget replies;
  FailedCalls failed_calls;
  CallbackWatch callbacks;
  ServerStatistics statistics;
  std::uint64_t next_connection = 1;
  bool failed = false;  // a deviation asks for the end of the program
  bool hung = false;    // a deviation ended all work
};

}  // namespace steertag::peer
