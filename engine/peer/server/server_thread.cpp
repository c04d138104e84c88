// The reference server in a thread of its own.
#include "peer/server/server_thread.h"

#include "peer/server/programs.h"

namespace steertag::peer {
namespace {

// How late the end is noticed if the wake-up should be missed.
constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace

Expected<std::unique_ptr<ServerThread>, fabric::Error> ServerThread::start(
    const fabric::Url& url, const ServerOptions& options, fabric::RandomSource random,
    Clock clock) {
  auto provider = fabric::make_provider(url.provider, random);
  if (!provider) return tl::unexpected(std::move(provider.error()));
  std::unique_ptr<ServerThread> made(new ServerThread());
  made->provider_ = std::move(*provider);
  made->storage_ = std::make_unique<MemoryBackend>(std::move(clock), random);
  Nfs4StateOptions state;
  state.clock = options.clock;
  state.random = random;
  auto server =
      Server::start(*made->provider_, url, make_programs(*made->storage_, state), options);
  if (!server) return tl::unexpected(std::move(server.error()));
  made->server_ = std::move(*server);
  made->port_ = made->server_->port();
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
  server_.reset();
}

void ServerThread::stop() {
  end_ = true;
  if (!thread_.joinable()) return;
  provider_->wake();
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
