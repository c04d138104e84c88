// The reference server: listeners of several transports and their connections.
// One thread drives all of them in `poll`.
#pragma once

#include "server/rdma/rdma_transport.h"
#include "server/rpc/service_table.h"
#include "server/server_context.h"
#include "server/stream/stream_transport.h"

namespace steertag::peer {

/// Where a server listens: `tcp://` for ONC RPC with record marking, or RPC-over-RDMA by a
/// provider, which must outlive the server.
struct ListenAddress {
  net::Url url;
  fabric::Provider* provider = nullptr;  // nullptr: tcp
  bool port_mapper = false;              // a further port, for the port mapper to be found at
};

/// Where a server listens, with the providers that their URLs name.
struct ListenAddresses {
  std::vector<std::unique_ptr<fabric::Provider>> providers;  // one of each name
  std::vector<ListenAddress> addresses;                      // in the order of the URLs
};
Expected<ListenAddresses, net::Error> make_listen_addresses(std::span<const net::Url> urls,
                                                            const fabric::RandomSource& random);

class Server {
 public:
  /// Listens at all places, at least one, or at none. A port mapper and rpcbind tell where
  /// `programs` are. Fails too for options that `check` refuses.
  static Expected<std::unique_ptr<Server>, net::Error> start(
      std::span<const ListenAddress> addresses, std::vector<std::unique_ptr<Program>> programs,
      const ServerOptions& options, TroubleCallback on_trouble = {});
  /// At one place, over RDMA.
  static Expected<std::unique_ptr<Server>, net::Error> start(
      fabric::Provider& provider, const net::Url& url,
      std::vector<std::unique_ptr<Program>> programs, const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Works for this too in `poll`. It must outlive the server.
  void attend(net::Pollable& other) { pollables_.push_back(&other); }
  /// Works until something was done or `timeout` passed.
  void poll(std::chrono::milliseconds timeout);
  /// The same for several servers in one thread.
  static void poll_all(std::span<const std::unique_ptr<Server>> servers,
                       std::chrono::milliseconds timeout);
  /// Makes a poll in progress return early; the only member that other threads may call.
  void wake() { pollables_.front()->wake(); }
  /// Where it listens, in the order of the places, with the ports really bound.
  const std::vector<net::Url>& listening() const { return listening_; }
  /// The port of the first place.
  std::uint16_t port() const { return listening_.front().port; }
  std::size_t connection_count() const { return context_.connections.held(); }
  const ServerStatistics& statistics() const { return context_.statistics; }
  /// Memory of the first provider; there must be one.
  const RegionPool& pool() const { return rdma_.front()->pool(); }
  const ReplyBudget& replies() const { return context_.replies; }
  /// An interposer asks for the end of the program.
  bool failed() const {
    const auto& interposer = context_.options.interposer;
    return interposer && interposer->ends_program();
  }

 private:
  using Version = std::pair<std::uint32_t, std::uint32_t>;  // program and version

  Server(std::vector<std::unique_ptr<Program>> programs, std::vector<Version> versions,
         std::shared_ptr<ServiceTable> services, const ServerOptions& options,
         TroubleCallback on_trouble);
  Expected<void, net::Error> listen(const ListenAddress& address);
  /// Tells the port mapper what is offered at the place listened on last.
  void offer(const ListenAddress& address);
  Expected<net::Url, net::Error> listen_rdma(const ListenAddress& address);
  Expected<net::Url, net::Error> listen_stream(const net::Url& url);
  /// What is due after each poll.
  void tend();

  std::vector<Version> versions_;  // of the programs that are offered
  std::shared_ptr<ServiceTable> services_;
  ServerContext context_;
  std::vector<std::unique_ptr<RdmaTransport>> rdma_;  // one for each provider
  std::unique_ptr<StreamTransport> streams_;          // of all tcp places, if there are any
  std::vector<net::Pollable*> pollables_;             // providers, streams_, and others
  std::vector<net::Url> listening_;
};

}  // namespace steertag::peer
