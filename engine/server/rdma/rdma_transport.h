// RPC-over-RDMA by one provider: the listeners and connections of one server.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "server/rdma/server_connection.h"

namespace steertag::peer {

class RdmaTransport {
 public:
  /// `context` and `provider` must outlive the transport.
  RdmaTransport(ServerContext& context, fabric::Provider& provider);
  ~RdmaTransport();
  RdmaTransport(const RdmaTransport&) = delete;
  RdmaTransport& operator=(const RdmaTransport&) = delete;

  /// Listens at `url` too. Returns the port that is listened on really.
  Expected<std::uint16_t, fabric::Error> listen(const fabric::Url& url);
  /// Makes the receives that its connections share, if the options want it.
  Expected<void, fabric::Error> share_receives();
  fabric::Provider& provider() const { return rdma_.provider; }
  std::size_t connection_count() const { return connections_.size(); }
  const RegionPool& pool() const { return rdma_.pool; }
  /// Goes on with what waits, and lets go of connections that are down. Not from inside a notice.
  void sweep();

 private:
  void on_request(std::unique_ptr<fabric::ConnectionRequest> request);
  EndpointOptions endpoint_options() const;
  /// As the interposer wants it.
  void answer(std::unique_ptr<fabric::ConnectionRequest> request, Interposer& interposer,
              net::SourceQuota::Slot slot);
  /// Whether it was accepted.
  bool take_optimistic(fabric::ConnectionRequest& request, net::SourceQuota::Slot slot);
  void keep(std::unique_ptr<ServerConnection> connection, bool accepted);
  void look_for_idleness();

  ServerContext& context_;
  RdmaContext rdma_;
  std::chrono::steady_clock::time_point looked_{};
  std::unordered_map<std::uint64_t, std::unique_ptr<ServerConnection>> connections_;
  std::vector<std::unique_ptr<fabric::ConnectionRequest>> unanswered_;
  std::vector<std::unique_ptr<fabric::Listener>> listeners_;  // last: no request after the rest
};

}  // namespace steertag::peer
