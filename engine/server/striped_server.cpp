// A metadata server of pNFS with its data servers.
#include "server/striped_server.h"

#include <algorithm>
#include <limits>
#include <span>

#include "rpc/rpcbind.h"
#include "server/rpc/programs.h"

namespace steertag::peer {
namespace {

constexpr int kShorterLease = 5;  // the part of a lease, of a policy
constexpr std::size_t kMostPort = std::numeric_limits<std::uint16_t>::max();

/// Where the metadata server listens, with the ports of data server `index`.
std::vector<ListenAddress> beside(std::span<const ListenAddress> addresses, std::uint32_t index,
                                  const ServerOptions& how) {
  std::vector<ListenAddress> places(addresses.begin(), addresses.end());
  if (how.data_servers_by_tcp) {
    places.resize(1);
    places.front().url.provider = net::kStreamProvider;
    places.front().provider = nullptr;
  }
  std::size_t port = how.first_data_server_port + index * places.size();
  for (ListenAddress& place : places)
    place.url.port = how.first_data_server_port == 0 ? 0 : static_cast<std::uint16_t>(port++);
  return places;
}

net::Error cannot_listen(std::string reason) {
  return {net::Errc::cannot_listen, std::move(reason)};
}

/// Makes data servers with what all of them share. Those of `interposers` are for the first ones.
auto data_server_maker(std::vector<ListenAddress> addresses, Backend& storage,
                       Nfs4StateOptions state, std::shared_ptr<const DataServers> data_servers,
                       std::shared_ptr<LayoutAuthority> authority, ServerOptions how,
                       TroubleCallback on_trouble,
                       std::vector<std::shared_ptr<Interposer>> interposers) {
  // RFC 8881 13.1.1: the lease of the metadata server. Its clients hold nothing that a restart
  // would lose.
  state.recovery_path.clear();
  if (!how.pnfs_policy.lease_of_metadata_server) state.lease /= kShorterLease;
  how.interposer = nullptr;
  how.direct = nullptr;
  return [=, &storage](std::uint32_t index, bool anywhere) {
    ServerOptions its_options = how;
    if (how.data_server_interposer) its_options.interposer = how.data_server_interposer();
    if (index < interposers.size()) its_options.interposer = interposers[index];
    if (anywhere) its_options.first_data_server_port = 0;
    return Server::start(beside(addresses, index, its_options),
                         make_data_server(storage, state, data_servers, index, authority),
                         its_options, on_trouble);
  };
}

}  // namespace

Expected<std::vector<DataServerAddress>, net::Error> data_server_addresses(
    std::span<const net::Url> listening, const std::string& known_as) {
  std::vector<DataServerAddress> ways;
  for (net::Url url : listening) {
    if (!known_as.empty()) url.host = known_as;
    const auto resolved = net::resolve(url, true);
    if (!resolved && !known_as.empty()) return tl::unexpected(resolved.error());
    const std::string host = resolved ? resolved->front().host() : url.host;
    if (is_any_address(host)) continue;
    ways.push_back({ServiceTable::netid(url, host), rpcbind::universal_address(host, url.port)});
  }
  if (ways.empty())
    return tl::unexpected(cannot_listen("pNFS needs an address that clients can reach, and " +
                                        listening.front().text() + " names none"));
  return ways;
}

Expected<std::unique_ptr<StripedServer>, net::Error> StripedServer::start(
    std::span<const net::Url> urls, Backend& storage, const Nfs4StateOptions& state,
    const StripePattern& pattern, const ServerOptions& how, TroubleCallback on_trouble,
    std::span<const std::shared_ptr<Interposer>> at_data_servers) {
  if (const auto possible = check_pattern(pattern); !possible)
    return tl::unexpected(cannot_listen(possible.error()));
  if (how.first_data_server_port + pattern.count * urls.size() > kMostPort + 1)
    return tl::unexpected(cannot_listen(
        std::to_string(pattern.count * urls.size()) + " ports of data servers from " +
        std::to_string(how.first_data_server_port) + " on end above " + std::to_string(kMostPort)));
  auto listened = make_listen_addresses(urls, state.random);
  if (!listened) return tl::unexpected(std::move(listened.error()));
  const std::vector<ListenAddress>& addresses = listened->addresses;
  auto data_servers = std::make_shared<DataServers>(pattern, state.random, how.pnfs_policy);
  std::unique_ptr<StripedServer> server(new StripedServer);
  server->providers_ = std::move(listened->providers);
  server->data_servers_ = data_servers;
  server->known_as_ = how.data_server_host;
  const std::uint32_t others = pattern.count - (how.has_both_roles ? 1 : 0);
  Programs programs =
      make_metadata_server(storage, state, data_servers, how.direct,
                           how.has_both_roles ? std::optional(others) : std::nullopt);
  server->administration_.emplace(*programs.state, storage, data_servers, state.random);
  server->make_data_server_ =
      data_server_maker(addresses, storage, state, data_servers, programs.authority, how,
                        on_trouble, {at_data_servers.begin(), at_data_servers.end()});
  auto first = Server::start(addresses, std::move(programs.all), how, on_trouble);
  if (!first) return tl::unexpected(std::move(first.error()));
  server->servers_.push_back(std::move(*first));
  for (std::uint32_t index = 0; index < pattern.count; ++index) {
    if (index < others) {
      auto made = server->make_data_server_(index, false);
      if (!made) return tl::unexpected(std::move(made.error()));
      server->servers_.push_back(std::move(*made));
    }
    const Server& its_own = index < others ? *server->servers_.back() : server->metadata_server();
    auto ways = data_server_addresses(its_own.listening(), how.data_server_host);
    if (!ways) return tl::unexpected(std::move(ways.error()));
    data_servers->add(std::move(*ways));
  }
  return server;
}

Expected<void, net::Error> StripedServer::move_data_server() {
  if (data_server_count() == 0) return {};
  const auto index = static_cast<std::uint32_t>(data_server_count() - 1);
  // It listens before the former one ends, so that it has other ports.
  auto moved = make_data_server_(index, true);
  if (!moved) return tl::unexpected(std::move(moved.error()));
  const auto ways = data_server_addresses((*moved)->listening(), known_as_);
  if (!ways) return tl::unexpected(ways.error());
  servers_.back() = std::move(*moved);
  data_servers_->set(index, *ways);
  administration_->tell_of_move();
  return {};
}

}  // namespace steertag::peer
