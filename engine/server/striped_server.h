// A metadata server of pNFS with its data servers, all in one process and one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/server.h"
#include "server/storage/backend.h"
#include "server/v4/pnfs/layout_administration.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

/// The netid and the universal address of each place that is listened at, but for those that are
/// every address of this host. With `known_as` they have that address.
Expected<std::vector<DataServerAddress>, net::Error> data_server_addresses(
    std::span<const net::Url> listening, const std::string& known_as);

/// The data servers are servers of their own, with clients and sessions of their own. They share
/// the storage with the metadata server, and ask it at each call what a client may do.
class StripedServer {
 public:
  /// The metadata server listens at `urls`, each an address that clients can reach. Each data
  /// server listens at a free port of the same hosts, by the same transports. Interposer and direct
  /// access of `how` are the metadata server's alone. The interposers of data servers are
  /// `at_data_servers`, or what `how` makes. `storage` must outlive the server. With both roles the
  /// metadata server is the last data server.
  static Expected<std::unique_ptr<StripedServer>, net::Error> start(
      std::span<const net::Url> urls, Backend& storage, const Nfs4StateOptions& state,
      const StripePattern& pattern, const ServerOptions& how, TroubleCallback on_trouble = {},
      std::span<const std::shared_ptr<Interposer>> at_data_servers = {});

  /// The data servers go first: they refer to the state of the metadata server.
  ~StripedServer() {
    while (!servers_.empty()) servers_.pop_back();
  }
  StripedServer(const StripedServer&) = delete;
  StripedServer& operator=(const StripedServer&) = delete;

  /// Works until something was done or `timeout` passed.
  void poll(std::chrono::milliseconds timeout) { Server::poll_all(servers_, timeout); }
  const Server& metadata_server() const { return *servers_.front(); }
  /// For what an administrator wants.
  LayoutAdministration& administration() { return *administration_; }
  /// The last data server of its own goes on at free ports, and forgets its clients. Whoever asked
  /// hears of it; the layouts of others are recalled.
  Expected<void, net::Error> move_data_server();
  const std::vector<std::unique_ptr<fabric::Provider>>& providers() const { return providers_; }
  /// Ends the last data server, as if its machine were gone. Those before it keep their indices.
  void stop_last_data_server() { servers_.pop_back(); }
  /// Without the metadata server, which may be another one.
  std::size_t data_server_count() const { return servers_.size() - 1; }
  const Server& data_server(std::size_t index) const { return *servers_[index + 1]; }

 private:
  /// The data server of an index, at its ports or at free ones.
  using MakeDataServer =
      std::function<Expected<std::unique_ptr<Server>, net::Error>(std::uint32_t, bool anywhere)>;

  StripedServer() = default;

  // Shared by all servers: UDP port 4791 of an address has one owner. Servers end before them.
  std::vector<std::unique_ptr<fabric::Provider>> providers_;
  std::shared_ptr<DataServers> data_servers_;
  std::string known_as_;  // host of the data servers; empty: that of their places
  MakeDataServer make_data_server_;
  std::optional<LayoutAdministration> administration_;
  std::vector<std::unique_ptr<Server>> servers_;  // the metadata server is the first
};

}  // namespace steertag::peer
