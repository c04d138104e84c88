// Listeners and connections over one provider.
#include "server/rdma/rdma_transport.h"

#include <algorithm>

#include "server/rdma/announcement.h"
#include "switches/provider_defects.h"

namespace steertag::peer {

RdmaTransport::RdmaTransport(ServerContext& context, fabric::Provider& provider)
    : context_(context), rdma_(provider, context.options.pull_budget_bytes) {
  if (context.options.deviations.any())
    provider.misbehave(provider_defects(context.options.deviations));
}

RdmaTransport::~RdmaTransport() {
  listeners_.clear();
  unanswered_.clear();
  connections_.clear();
}

Expected<std::uint16_t, fabric::Error> RdmaTransport::listen(const fabric::Url& url) {
  auto listener = rdma_.provider.listen(
      url,
      [this](std::unique_ptr<fabric::ConnectionRequest> request) {
        on_request(std::move(request));
      },
      context_.on_trouble);
  if (!listener) return tl::unexpected(std::move(listener.error()));
  listeners_.push_back(std::move(*listener));
  return listeners_.back()->port();
}

EndpointOptions RdmaTransport::endpoint_options() const {
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

void RdmaTransport::on_request(std::unique_ptr<fabric::ConnectionRequest> request) {
  if (context_.hung) {
    if (unanswered_.size() < context_.options.most_connections)
      unanswered_.push_back(std::move(request));
    return;
  }
  if (context_.open_connections >= context_.options.most_connections) {
    ++context_.statistics.refused_connections;
    request->reject({});
    return;
  }
  if (context_.options.interposer) return answer(std::move(request), *context_.options.interposer);
  auto connection = std::make_unique<ServerConnection>(context_, rdma_, endpoint_options());
  const bool accepted = connection->accept(*request).has_value();
  keep(std::move(connection), accepted);
}

void RdmaTransport::answer(std::unique_ptr<fabric::ConnectionRequest> request,
                           Interposer& interposer) {
  AcceptStep step;
  step.endpoint = endpoint_options();
  interposer.on_request(request->private_data(), step);
  switch (step.answer) {
    case AcceptStep::Answer::accept: {
      auto connection =
          std::make_unique<ServerConnection>(context_, rdma_, std::move(step.endpoint));
      const bool accepted = connection->accept(*request, step.events, step.bytes).has_value();
      const std::shared_ptr<Line> line = connection->line();
      keep(std::move(connection), accepted);
      if (accepted) interposer.on_accepted(line);
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
  ++context_.open_connections;
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
    --context_.open_connections;
    return true;
  });
  rdma_.holders.watch(context_.options.clock(), rdma_.pulls.serve());
}

}  // namespace steertag::peer
