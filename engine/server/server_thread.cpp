// The reference server in a thread of its own.
#include "server/server_thread.h"

#include "server/rpc/programs.h"

namespace steertag::peer {
namespace {

// How late the end is noticed if the wake-up should be missed.
constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace

Expected<std::unique_ptr<ServerThread>, net::Error> ServerThread::start(
    std::span<const net::Url> urls, const ServerOptions& options, fabric::RandomSource random,
    Clock clock) {
  auto storage = std::make_unique<MemoryBackend>(std::move(clock), random);
  return start(urls, options, random, std::move(storage));
}

Expected<std::unique_ptr<ServerThread>, net::Error> ServerThread::start(
    std::span<const net::Url> urls, const ServerOptions& options,
    const fabric::RandomSource& random, std::unique_ptr<Backend> storage) {
  auto addresses = make_listen_addresses(urls, random);
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  std::unique_ptr<ServerThread> made(new ServerThread());
  made->providers_ = std::move(addresses->providers);
  made->storage_ = std::move(storage);
  Nfs4StateOptions state;
  state.clock = options.clock;
  state.random = random;
  auto server = Server::start(addresses->addresses,
                              make_programs(*made->storage_, state, options.direct), options);
  if (!server) return tl::unexpected(std::move(server.error()));
  made->server_ = std::move(*server);
  made->listening_ = made->server_->listening();
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  return made;
}

ServerThread::~ServerThread() {
  stop();
}

void ServerThread::run() {
  while (!end_ && !server_->failed()) {
    server_->poll(kPollInterval);
    const std::lock_guard lock(mutex_);
    statistics_ = server_->statistics();
    connection_count_ = server_->connection_count();
  }
  failed_ = server_->failed();
  const auto ending = [this] {
    const std::lock_guard lock(mutex_);
    return std::move(server_);
  }();
}

void ServerThread::stop() {
  end_ = true;
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    if (server_) server_->wake();
  }
  thread_.join();
}

ServerStatistics ServerThread::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

std::size_t ServerThread::connection_count() const {
  const std::lock_guard lock(mutex_);
  return connection_count_;
}

}  // namespace steertag::peer
