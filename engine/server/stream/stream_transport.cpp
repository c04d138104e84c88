// Listeners, connections and poll of the plain TCP transport.
#include "server/stream/stream_transport.h"

namespace steertag::peer {

Expected<std::unique_ptr<StreamTransport>, net::Error> StreamTransport::open(
    ServerContext& context) {
  // The limits' clock is the caller's, so that tests need not wait.
  auto reactor = net::Reactor::open([clock = context.options.clock] {
    return std::chrono::nanoseconds(clock().time_since_epoch()).count();
  });
  if (!reactor) return tl::unexpected(std::move(reactor.error()));
  return std::unique_ptr<StreamTransport>(new StreamTransport(context, std::move(*reactor)));
}

Expected<net::Address, net::Error> StreamTransport::listen(const net::Url& url) {
  auto acceptor = net::Acceptor::open(
      runtime_.reactor, url,
      [this](net::Socket socket, const net::Address& peer) { admit(std::move(socket), peer); },
      [this](const net::Error& error) { trouble("", error); });
  if (!acceptor) return tl::unexpected(std::move(acceptor.error()));
  acceptors_.push_back(std::move(*acceptor));
  return acceptors_.back()->address();
}

void StreamTransport::trouble(const std::string& peer, const net::Error& error) const {
  if (runtime_.context.on_trouble) runtime_.context.on_trouble(peer, error);
}

void StreamTransport::admit(net::Socket socket, const net::Address& peer) {
  ServerContext& context = runtime_.context;
  ++runtime_.notices;
  auto slot = context.admit(peer);
  if (!slot) return;
  const std::uint64_t id = context.next_connection++;
  auto connection =
      std::make_unique<StreamConnection>(runtime_, id, std::move(*slot), std::move(socket), peer);
  if (const auto started = connection->start(); !started) {
    ++context.statistics.refused_connections;
    return trouble(peer.text(), started.error());
  }
  ++context.statistics.connections;
  connections_.emplace(id, std::move(connection));
}

std::size_t StreamTransport::poll(std::chrono::milliseconds timeout) {
  using std::chrono::steady_clock;
  runtime_.notices = 0;
  runtime_.reactor.begin_round();
  // Real time whatever clock was given: it bounds the caller's wait.
  const auto end = steady_clock::now() + timeout;
  std::chrono::milliseconds left = timeout;
  while (true) {
    runtime_.reactor.poll(left);
    serve_waiting();
    drop_stalled();
    sweep();
    left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (runtime_.reactor.take_woken() || runtime_.notices > 0 || left.count() <= 0)
      return runtime_.notices;
  }
}

void StreamTransport::serve_waiting() {
  while (const auto grant = runtime_.records.next()) grant->connection->stop_waiting(*grant);
}

void StreamTransport::drop_stalled() {
  const net::Time now = runtime_.reactor.round_time();
  if (now < net::after(watched_, kWatchdogInterval)) return;
  // Octets may have come while the server was away, and are not all read in one round.
  const bool was_away = now > net::after(watched_, kMostWatchdogStep);
  const net::Time step = now - watched_;
  watched_ = now;
  if (was_away) return;
  const bool wanted = runtime_.records.has_waiting();
  if (!wanted && !watching_) return;
  watching_ = wanted;
  for (const auto& [id, connection] : connections_) {
    if (wanted) {
      connection->drop_if_stalled(step);
    } else {
      connection->forget_stall();
    }
  }
}

void StreamTransport::sweep() {
  for (const std::uint64_t id : runtime_.ended) connections_.erase(id);
  runtime_.ended.clear();
}

}  // namespace steertag::peer
