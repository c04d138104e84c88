// Listeners and connections over one provider.
#include "server/rdma/rdma_transport.h"

#include <algorithm>

#include "nfs/direct/private_data.h"
#include "server/direct/direct_access.h"

namespace steertag::peer {
namespace {

/// What the client's private data say; nothing means the defaults of RFC 8166.
std::optional<wire::PrivateData> announced_by(const fabric::ConnectionRequest& request) {
  const auto found = wire::find_private_data(request.private_data());
  return found ? std::optional(found->data) : std::nullopt;
}

}  // namespace

RdmaTransport::RdmaTransport(ServerContext& context, fabric::Provider& provider)
    : context_(context), rdma_(provider, context.options.pull_budget_bytes) {}

RdmaTransport::~RdmaTransport() {
  listeners_.clear();
  unanswered_.clear();
  connections_.clear();
  if (context_.options.direct) context_.options.direct->leave(rdma_.provider);
}

Expected<std::uint16_t, fabric::Error> RdmaTransport::listen(const fabric::Url& url) {
  auto listener = rdma_.provider.listen(
      url,
      [this](std::unique_ptr<fabric::ConnectionRequest> request) {
        on_request(std::move(request));
      },
      context_.on_trouble,
      fabric::ListenPolicy{context_.options.iwarp.startup, context_.options.roce.startup});
  if (!listener) return tl::unexpected(std::move(listener.error()));
  listeners_.push_back(std::move(*listener));
  return listeners_.back()->port();
}

Expected<void, fabric::Error> RdmaTransport::share_receives() {
  const ServerOptions& options = context_.options;
  if (options.shared_receives == 0) return {};
  auto receives = ReceivePool::open(rdma_.provider, *rdma_.domain, options.shared_receives,
                                    options.announced.receive_bytes);
  if (!receives) return tl::unexpected(std::move(receives.error()));
  rdma_.receives = std::move(*receives);
  return {};
}

EndpointOptions RdmaTransport::endpoint_options() const {
  EndpointOptions options;
  options.announced = context_.options.announced;
  options.sends_private_data = context_.options.sends_private_data;
  // RFC 8166 3.3.1: a receive for every granted credit, before anything is granted.
  options.receives = context_.options.credits + kSpareReceives;
  options.pool = rdma_.receives.get();
  options.connection.crc = context_.options.crc;
  options.connection.idle_timeout = context_.options.idle_timeout;
  options.connection.iwarp = context_.options.iwarp;
  options.connection.roce = context_.options.roce;
  return options;
}

void RdmaTransport::on_request(std::unique_ptr<fabric::ConnectionRequest> request) {
  auto slot = context_.admit(request->peer());
  if (!slot) return request->reject({});
  if (context_.options.direct && direct::is_optimistic(request->private_data())) {
    if (!take_optimistic(*request, std::move(*slot))) ++context_.statistics.refused_connections;
    return;
  }
  if (context_.options.interposer)
    return answer(std::move(request), *context_.options.interposer, std::move(*slot));
  auto connection =
      std::make_unique<ServerConnection>(context_, rdma_, endpoint_options(), std::move(*slot));
  const auto client = announced_by(*request);
  const bool accepted = connection->accept(*request, client).has_value();
  keep(std::move(connection), accepted);
}

bool RdmaTransport::take_optimistic(fabric::ConnectionRequest& request,
                                    net::SourceQuota::Slot slot) {
  OptimisticStep step;
  if (context_.options.interposer)
    context_.options.interposer->on_optimistic(request.private_data(), step);
  if (step.rejects) {
    request.reject({});
    return false;
  }
  fabric::ConnectionOptions options = endpoint_options().connection;
  options.bent_response = std::move(step.bent_response);
  return context_.options.direct->take(rdma_.provider, request, std::move(options), std::move(slot),
                                       {step.events, step.bytes});
}

void RdmaTransport::answer(std::unique_ptr<fabric::ConnectionRequest> request,
                           Interposer& interposer, net::SourceQuota::Slot slot) {
  AcceptStep step;
  step.endpoint = endpoint_options();
  step.client = announced_by(*request);
  interposer.on_request(request->private_data(), step);
  switch (step.answer) {
    case AcceptStep::Answer::accept: {
      auto connection = std::make_unique<ServerConnection>(
          context_, rdma_, std::move(step.endpoint), std::move(slot));
      const bool accepted =
          connection->accept(*request, step.client, step.events, step.bytes).has_value();
      const std::shared_ptr<InterposedConnection> interposed = connection->interposed();
      keep(std::move(connection), accepted);
      if (accepted) interposer.on_accepted(interposed);
      return;
    }
    case AcceptStep::Answer::reject:
      ++context_.statistics.refused_connections;
      return request->reject(step.rejection);
    case AcceptStep::Answer::drop:
      ++context_.statistics.refused_connections;
      return;
    case AcceptStep::Answer::keep:
      if (unanswered_.size() < context_.options.most_connections)
        unanswered_.push_back(std::move(request));
  }
}

void RdmaTransport::keep(std::unique_ptr<ServerConnection> connection, bool accepted) {
  if (!accepted) {
    ++context_.statistics.refused_connections;
    return;
  }
  ++context_.statistics.connections;
  const std::uint64_t id = connection->id();
  connections_.emplace(id, std::move(connection));
}

void RdmaTransport::sweep() {
  // Not all connections: thousands may be idle.
  std::erase_if(rdma_.unsettled, [this](std::uint64_t id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return true;
    if (!found->second->down()) return found->second->trim();
    connections_.erase(found);
    return true;
  });
  look_for_idleness();
  rdma_.watchdog.check(context_.options.clock(), rdma_.pulls.serve());
}

void RdmaTransport::look_for_idleness() {
  const auto now = context_.options.clock();
  if (now - looked_ < kIdlenessInterval) return;
  looked_ = now;
  for (const auto& [id, connection] : connections_) connection->look_for_idleness();
}

}  // namespace steertag::peer
