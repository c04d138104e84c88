// The reference server: a listener and its connections, all driven by one thread in `poll`.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "peer/server/dispatcher.h"
#include "peer/server/server_connection.h"

namespace steertag::peer {

struct ServerOptions {
  std::uint32_t credits = kDefaultCredits;  // granted in every reply; 1 .. kMostCredits
  wire::PrivateData announced{true, kDefaultAnnouncedBytes, kDefaultAnnouncedBytes};
  bool sends_private_data = true;
  std::chrono::milliseconds idle_timeout = kIdleTimeout;
  std::size_t most_connections = kMostConnections;
  std::size_t pull_budget_bytes = kPullBudgetBytes;
  Deviations deviations;
};

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

class Server {
 public:
  /// Listens on `url`. `provider` must outlive the server.
  static Expected<std::unique_ptr<Server>, fabric::Error> start(
      fabric::Provider& provider, const fabric::Url& url,
      std::vector<std::unique_ptr<Program>> programs, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Works until something was done or `timeout` passed.
  void poll(std::chrono::milliseconds timeout);
  std::uint16_t port() const { return listener_->port(); }
  std::size_t connection_count() const { return connections_.size(); }
  const ServerStatistics& statistics() const { return statistics_; }
  /// A deviation asks for the end of the program.
  bool failed() const { return failed_; }

  /// Programs of the reference server: NFS version 3 and MOUNT version 3 over one storage.
  static std::vector<std::unique_ptr<Program>> nfs3_programs(Backend& backend);

 private:
  friend class ServerConnection;

  Server(fabric::Provider& provider, std::vector<std::unique_ptr<Program>> programs,
         const ServerOptions& options);
  void on_request(std::unique_ptr<fabric::ConnectionRequest> request);
  EndpointOptions endpoint_options() const;
  void sweep();

  // For connections.
  void wait_for_memory(ServerConnection& connection, std::uint32_t transaction);
  void forget_waits(const ServerConnection& connection);
  /// The connection was lost while RDMA operations of this call may have failed. Refused from its
  /// first retry on if `certain`, otherwise from the second loss on.
  void remember_failed(const std::string& host, std::uint32_t xid, bool certain);
  /// Whether a retry of this call is to be refused.
  bool is_failed(const std::string& host, std::uint32_t xid) const;

  struct Waiter {
    ServerConnection* connection;
    std::uint32_t transaction;
  };
  struct FailedCall {
    std::string host;
    std::uint32_t xid;
    bool certain;
  };

  fabric::Provider& provider_;
  ServerOptions options_;
  Dispatcher dispatcher_;
  std::unique_ptr<fabric::Domain> domain_;
  RegionPool pool_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ServerConnection>> connections_;
  std::uint64_t next_connection_ = 1;
  std::deque<Waiter> waiting_;
  std::deque<FailedCall> failed_calls_;
  ServerStatistics statistics_;
  bool failed_ = false;
  bool hung_ = false;
  std::unique_ptr<fabric::Listener> listener_;  // last: no request after the rest is gone
};

}  // namespace steertag::peer
