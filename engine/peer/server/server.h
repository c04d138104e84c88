// The reference server: a listener and its connections, all driven by one thread in `poll`.
#pragma once

#include <unordered_map>

#include "peer/server/server_connection.h"
#include "peer/server/server_context.h"

namespace steertag::peer {

class Server {
 public:
  /// Listens on `url`. `provider` must outlive the server. Fails too for options that
  /// `check` refuses.
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
  const ServerStatistics& statistics() const { return context_.statistics; }
  const RegionPool& pool() const { return context_.pool; }
  const ReplyBudget& replies() const { return context_.replies; }
  /// A deviation asks for the end of the program.
  bool failed() const { return context_.failed; }

 private:
  Server(fabric::Provider& provider, std::vector<std::unique_ptr<Program>> programs,
         const ServerOptions& options);
  void on_request(std::unique_ptr<fabric::ConnectionRequest> request);
  EndpointOptions endpoint_options() const;
  void sweep();

  ServerContext context_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ServerConnection>> connections_;
  std::uint64_t next_connection_ = 1;
  std::vector<std::unique_ptr<fabric::ConnectionRequest>> unanswered_;  // when a deviation hangs
  std::unique_ptr<fabric::Listener> listener_;  // last: no request after the rest is gone
};

}  // namespace steertag::peer
