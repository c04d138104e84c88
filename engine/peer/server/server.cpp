// The reference server's listener, connections and shared memory.
#include "peer/server/server.h"

#include <algorithm>

#include "peer/server/announcement.h"

namespace steertag::peer {

Server::Server(fabric::Provider& provider, std::vector<std::unique_ptr<Program>> programs,
               const ServerOptions& options)
    : context_(provider, std::move(programs), options) {}

Server::~Server() {
  listener_.reset();
  unanswered_.clear();
  connections_.clear();
}

Expected<std::unique_ptr<Server>, fabric::Error> Server::start(
    fabric::Provider& provider, const fabric::Url& url,
    std::vector<std::unique_ptr<Program>> programs, const ServerOptions& options) {
  if (const auto possible = check(options); !possible)
    return tl::unexpected(fabric::Error{fabric::Errc::cannot_listen, possible.error()});
  std::unique_ptr<Server> server(new Server(provider, std::move(programs), options));
  auto listener = provider.listen(
      url, [raw = server.get()](std::unique_ptr<fabric::ConnectionRequest> request) {
        raw->on_request(std::move(request));
      });
  if (!listener) return tl::unexpected(std::move(listener.error()));
  server->listener_ = std::move(*listener);
  return server;
}

EndpointOptions Server::endpoint_options() const {
  const Deviations& deviations = context_.options.deviations;
  const wire::PrivateData& announced = context_.options.announced;
  EndpointOptions options;
  options.announced = announced;
  if (context_.options.sends_private_data) {
    options.raw_private_data = own_announcement(announced, deviations);
  } else {
    options.sends_private_data = false;
  }
  // RFC 8166 3.3.1: a receive for every granted credit, before anything is granted.
  options.receives = context_.options.credits + kSpareReceives;
  if (deviations.has(Deviation::grant_without_receives))
    options.receives = std::max(1U, context_.options.credits / 4);
  if (deviations.has(Deviation::receives_smaller_than_announced)) options.receive_bytes = 1024;
  if (deviations.has(Deviation::receives_below_1024)) options.receive_bytes = 512;
  options.connection.idle_timeout = context_.options.idle_timeout;
  return options;
}

void Server::on_request(std::unique_ptr<fabric::ConnectionRequest> request) {
  if (context_.hung) {
    if (unanswered_.size() < context_.options.most_connections)
      unanswered_.push_back(std::move(request));
    return;
  }
  if (connections_.size() >= context_.options.most_connections) {
    ++context_.statistics.refused_connections;
    request->reject({});
    return;
  }
  auto connection = std::make_unique<ServerConnection>(context_, endpoint_options());
  if (!connection->accept(*request)) {
    ++context_.statistics.refused_connections;
    return;
  }
  ++context_.statistics.connections;
  connections_.emplace(next_connection_++, std::move(connection));
}

void Server::poll(std::chrono::milliseconds timeout) {
  context_.provider.poll(timeout);
  context_.dispatcher.tend();
  if (!context_.hung) sweep();
}

void Server::sweep() {
  std::erase_if(connections_, [](const auto& entry) { return entry.second->down(); });
  context_.pulls.serve();
  for (const auto& [id, connection] : connections_) connection->trim();
}

}  // namespace steertag::peer
