// ONC RPC over plain TCP (RFC 5531 11): the listeners and connections of one server.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "net/acceptor.h"
#include "net/pollable.h"
#include "server/stream/stream_connection.h"

namespace steertag::peer {

class StreamTransport final : public net::Pollable {
 public:
  /// `context` must outlive the transport.
  static Expected<std::unique_ptr<StreamTransport>, net::Error> open(ServerContext& context);

  /// Listens at `url` too. Returns the address that is listened on really.
  Expected<net::Address, net::Error> listen(const net::Url& url);
  std::size_t connection_count() const { return connections_.size(); }

  std::size_t poll(std::chrono::milliseconds timeout) override;
  void wake() override { runtime_.reactor.wake(); }
  int descriptor() const override { return runtime_.reactor.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return runtime_.reactor.idle_for(most);
  }

 private:
  StreamTransport(ServerContext& context, net::Reactor reactor)
      : runtime_(context, std::move(reactor)) {}
  void admit(net::Socket socket, const net::Address& peer);
  void trouble(const std::string& peer, const net::Error& error) const;
  void sweep();
  void serve_waiting();
  void drop_stalled();

  StreamRuntime runtime_;
  net::Time watched_ = 0;  // when records that stand still were looked for
  bool watching_ = false;  // others waited for their memory then
  std::unordered_map<std::uint64_t, std::unique_ptr<StreamConnection>> connections_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
};

}  // namespace steertag::peer
