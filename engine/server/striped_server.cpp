// A metadata server of pNFS with its data servers.
#include "server/striped_server.h"

#include <algorithm>
#include <limits>
#include <span>

#include "rpc/rpcbind.h"
#include "server/rpc/programs.h"
#include "server/v4/pnfs/metadata_authority.h"

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

Expected<Server*, net::Error> StripedServer::add(std::span<const ListenAddress> addresses,
                                                 std::vector<std::unique_ptr<Program>> programs,
                                                 const ServerOptions& how,
                                                 const TroubleCallback& on_trouble) {
  auto server = Server::start(addresses, std::move(programs), how, on_trouble);
  if (!server) return tl::unexpected(std::move(server.error()));
  servers_.push_back(std::move(*server));
  return servers_.back().get();
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
  Programs programs = make_metadata_server(storage, state, data_servers, how.direct);
  const auto authority = std::make_shared<MetadataAuthority>(*programs.state, how.pnfs_policy);
  server->administration_.emplace(*programs.state, storage, data_servers, state.random);
  const auto first = server->add(addresses, std::move(programs.all), how, on_trouble);
  if (!first) return tl::unexpected(first.error());
  ServerOptions at_data_server = how;
  at_data_server.interposer = nullptr;
  at_data_server.direct = nullptr;
  // RFC 8881 13.1.1: the lease of the metadata server. Its clients hold nothing that a restart
  // would lose.
  Nfs4StateOptions its_state = state;
  its_state.recovery_path.clear();
  if (!how.pnfs_policy.lease_of_metadata_server) its_state.lease /= kShorterLease;
  for (std::uint32_t index = 0; index < pattern.count; ++index) {
    if (how.data_server_interposer) at_data_server.interposer = how.data_server_interposer();
    if (index < at_data_servers.size()) at_data_server.interposer = at_data_servers[index];
    const auto added =
        server->add(beside(addresses, index, how),
                    make_data_server(storage, its_state, data_servers, index, authority),
                    at_data_server, on_trouble);
    if (!added) return tl::unexpected(added.error());
    auto ways = data_server_addresses((*added)->listening(), how.data_server_host);
    if (!ways) return tl::unexpected(std::move(ways.error()));
    data_servers->add(std::move(*ways));
  }
  return server;
}

}  // namespace steertag::peer
