// The transports of the reference server under one roof.
#include "server/server.h"

#include <algorithm>

#include "server/rpc/portmap_program.h"
#include "server/rpc/rpcbind_program.h"

namespace steertag::peer {

Expected<ListenAddresses, net::Error> make_listen_addresses(std::span<const net::Url> urls,
                                                            const fabric::RandomSource& random) {
  ListenAddresses made;
  std::vector<std::pair<std::string, fabric::Provider*>> known;
  for (const net::Url& url : urls) {
    ListenAddress& address = made.addresses.emplace_back(ListenAddress{url});
    if (url.provider == net::kStreamProvider) continue;
    const auto found =
        std::ranges::find(known, url.provider, [](auto& each) { return each.first; });
    if (found != known.end()) {
      address.provider = found->second;
      continue;
    }
    auto provider = fabric::make_provider(url.provider, random);
    if (!provider) return tl::unexpected(std::move(provider.error()));
    address.provider = provider->get();
    known.emplace_back(url.provider, provider->get());
    made.providers.push_back(std::move(*provider));
  }
  return made;
}

Server::Server(std::vector<std::unique_ptr<Program>> programs, std::vector<Version> versions,
               std::shared_ptr<ServiceTable> services, const ServerOptions& options,
               TroubleCallback on_trouble)
    : versions_(std::move(versions)),
      services_(std::move(services)),
      context_(std::move(programs), options, std::move(on_trouble)) {}

Expected<std::unique_ptr<Server>, net::Error> Server::start(
    fabric::Provider& provider, const net::Url& url, std::vector<std::unique_ptr<Program>> programs,
    const ServerOptions& options) {
  const ListenAddress address{url, &provider};
  return start({&address, 1}, std::move(programs), options);
}

Expected<std::unique_ptr<Server>, net::Error> Server::start(
    std::span<const ListenAddress> addresses, std::vector<std::unique_ptr<Program>> programs,
    const ServerOptions& options, TroubleCallback on_trouble) {
  if (const auto possible = check(options); !possible)
    return tl::unexpected(net::Error{net::Errc::cannot_listen, possible.error()});
  if (addresses.empty())
    return tl::unexpected(net::Error{net::Errc::cannot_listen, "there is no URL to listen at"});
  std::vector<Version> versions;
  for (const auto& program : programs) versions.emplace_back(program->number(), program->version());
  auto services = std::make_shared<ServiceTable>();
  programs.push_back(std::make_unique<PortmapProgram>(services));
  for (auto version = rpcbind::kLowestVersion; version <= rpcbind::kHighestVersion; ++version)
    programs.push_back(std::make_unique<RpcbindProgram>(services, version));
  std::unique_ptr<Server> server(new Server(std::move(programs), std::move(versions), services,
                                            options, std::move(on_trouble)));
  for (const ListenAddress& address : addresses) {
    if (auto listening = server->listen(address); !listening)
      return tl::unexpected(std::move(listening.error()));
  }
  return server;
}

Expected<void, net::Error> Server::listen(const ListenAddress& address) {
  auto url = address.provider ? listen_rdma(address) : listen_stream(address.url);
  if (!url) return tl::unexpected(std::move(url.error()));
  listening_.push_back(std::move(*url));
  offer(address);
  return {};
}

void Server::offer(const ListenAddress& address) {
  const net::Url& url = listening_.back();
  // It is listened on, so the name has an address.
  const auto addresses = net::resolve(url, true);
  const std::string host = addresses ? addresses->front().host() : url.host;
  if (!address.port_mapper) {
    for (const auto& [program, version] : versions_) services_->add(program, version, url, host);
    return;
  }
  for (auto version = portmap::kVersion; version <= rpcbind::kHighestVersion; ++version)
    services_->add(portmap::kProgram, version, url, host);
}

Expected<net::Url, net::Error> Server::listen_rdma(const ListenAddress& address) {
  auto found = std::ranges::find_if(
      rdma_, [&](const auto& transport) { return &transport->provider() == address.provider; });
  if (found == rdma_.end()) {
    auto transport = std::make_unique<RdmaTransport>(context_, *address.provider);
    if (auto shared = transport->share_receives(); !shared)
      return tl::unexpected(std::move(shared.error()));
    rdma_.push_back(std::move(transport));
    pollables_.push_back(address.provider);
    found = rdma_.end() - 1;
  }
  const auto port = (*found)->listen(address.url);
  if (!port) return tl::unexpected(port.error());
  net::Url url = address.url;
  url.port = *port;
  return url;
}

Expected<net::Url, net::Error> Server::listen_stream(const net::Url& wanted) {
  if (!streams_) {
    auto opened = StreamTransport::open(context_);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    streams_ = std::move(*opened);
    pollables_.push_back(streams_.get());
  }
  context_.has_streams = true;
  const auto address = streams_->listen(wanted);
  if (!address) return tl::unexpected(address.error());
  net::Url url = wanted;
  url.port = address->port();
  return url;
}

void Server::poll(std::chrono::milliseconds timeout) {
  net::poll_all(pollables_, timeout);
  tend();
}

void Server::poll_all(std::span<const std::unique_ptr<Server>> servers,
                      std::chrono::milliseconds timeout) {
  std::vector<net::Pollable*> all;
  for (const auto& server : servers) {
    for (net::Pollable* const each : server->pollables_) {  // servers may share a provider
      if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    }
  }
  net::poll_all(all, timeout);
  for (const auto& server : servers) server->tend();
}

void Server::tend() {
  context_.dispatcher.tend();
  context_.held.release();
  for (const auto& transport : rdma_) transport->sweep();
  context_.callbacks.run();
}

}  // namespace steertag::peer
