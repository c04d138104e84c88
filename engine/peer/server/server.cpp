// The reference server's listener, connections and shared memory.
#include "peer/server/server.h"

#include <algorithm>
#include <thread>

#include "peer/server/announcement.h"
#include "peer/server/mount3_program.h"
#include "peer/server/nfs3_program.h"

namespace steertag::peer {

Server::Server(fabric::Provider& provider, std::vector<std::unique_ptr<Program>> programs,
               const ServerOptions& options)
    : provider_(provider),
      options_(options),
      dispatcher_(std::move(programs), options_.deviations),
      domain_(provider.make_domain()),
      pool_(*domain_, options.pull_budget_bytes) {
  options_.credits = std::clamp(options_.credits, std::uint32_t{1}, kMostCredits);
}

Server::~Server() {
  listener_.reset();
  connections_.clear();
}

std::vector<std::unique_ptr<Program>> Server::nfs3_programs(Backend& backend) {
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(std::make_unique<Nfs3Program>(backend));
  programs.push_back(std::make_unique<Mount3Program>(backend));
  return programs;
}

Expected<std::unique_ptr<Server>, fabric::Error> Server::start(
    fabric::Provider& provider, const fabric::Url& url,
    std::vector<std::unique_ptr<Program>> programs, const ServerOptions& options) {
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
  const Deviations& deviations = options_.deviations;
  EndpointOptions options;
  options.announced = options_.announced;
  if (options_.sends_private_data) {
    options.raw_private_data = own_announcement(options_.announced, deviations);
  } else {
    options.sends_private_data = false;
  }
  // RFC 8166 3.3.1: a receive for every granted credit, before anything is granted.
  options.receives = options_.credits + kSpareReceives;
  if (deviations.has(Deviation::grant_without_receives))
    options.receives = std::max(1U, options_.credits / 4);
  if (deviations.has(Deviation::receives_smaller_than_announced)) options.receive_bytes = 1024;
  if (deviations.has(Deviation::receives_below_1024)) options.receive_bytes = 512;
  options.connection.idle_timeout = options_.idle_timeout;
  return options;
}

void Server::on_request(std::unique_ptr<fabric::ConnectionRequest> request) {
  if (connections_.size() >= options_.most_connections) {
    ++statistics_.refused_connections;
    request->reject({});
    return;
  }
  const std::uint64_t id = next_connection_++;
  auto connection = std::make_unique<ServerConnection>(*this, id, endpoint_options());
  if (!connection->accept(*request, *domain_)) {
    ++statistics_.refused_connections;
    return;
  }
  ++statistics_.connections;
  connections_.emplace(id, std::move(connection));
}

void Server::poll(std::chrono::milliseconds timeout) {
  if (hung_) {
    std::this_thread::sleep_for(timeout);
    return;
  }
  provider_.poll(timeout);
  sweep();
}

void Server::sweep() {
  std::erase_if(connections_, [](const auto& entry) { return entry.second->down(); });
  while (!waiting_.empty()) {
    const Waiter waiter = waiting_.front();
    if (!waiter.connection->resume(waiter.transaction)) return;
    waiting_.pop_front();
  }
}

void Server::wait_for_memory(ServerConnection& connection, std::uint32_t transaction) {
  waiting_.push_back({&connection, transaction});
}

void Server::forget_waits(const ServerConnection& connection) {
  std::erase_if(waiting_, [&](const Waiter& waiter) { return waiter.connection == &connection; });
}

void Server::remember_failed(const std::string& host, std::uint32_t xid, bool certain) {
  const auto known =
      std::find_if(failed_calls_.begin(), failed_calls_.end(),
                   [&](const FailedCall& call) { return call.xid == xid && call.host == host; });
  if (known != failed_calls_.end()) {
    known->certain = true;
    return;
  }
  if (failed_calls_.size() == kMostFailedCalls) failed_calls_.pop_front();
  failed_calls_.push_back({host, xid, certain});
}

bool Server::is_failed(const std::string& host, std::uint32_t xid) const {
  return std::any_of(failed_calls_.begin(), failed_calls_.end(), [&](const FailedCall& call) {
    return call.certain && call.xid == xid && call.host == host;
  });
}

}  // namespace steertag::peer
