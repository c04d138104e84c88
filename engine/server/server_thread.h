// The reference server with its own providers, storage and thread.
// For programs that have their own work to do.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "server/server.h"
#include "server/storage/memory_backend.h"

namespace steertag::peer {

/// Starts in the constructor's place by `start`, ends in the destructor. All members may be called
/// from any thread.
class ServerThread {
 public:
  /// Serves at all of the URLs from memory.
  static Expected<std::unique_ptr<ServerThread>, net::Error> start(std::span<const net::Url> urls,
                                                                   const ServerOptions& options,
                                                                   fabric::RandomSource random,
                                                                   Clock clock);
  /// Serves `storage`.
  static Expected<std::unique_ptr<ServerThread>, net::Error> start(
      std::span<const net::Url> urls, const ServerOptions& options,
      const fabric::RandomSource& random, std::unique_ptr<Backend> storage);
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  /// Where it listens, in the order of the URLs, with the ports really bound.
  const std::vector<net::Url>& listening() const { return listening_; }
  /// The port of the first URL.
  std::uint16_t port() const { return listening_.front().port; }
  /// As of the end of the last poll.
  ServerStatistics statistics() const;
  std::size_t connection_count() const;
  /// An interposer ended it.
  bool failed() const { return failed_; }
  /// Returns when the thread has ended; connections are closed.
  void stop();

 private:
  ServerThread() = default;
  void run();

  std::vector<std::unique_ptr<fabric::Provider>> providers_;
  std::unique_ptr<Backend> storage_;
  std::vector<net::Url> listening_;
  std::atomic<bool> end_ = false;
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;        // guards what follows, but only run() changes `server_`
  std::unique_ptr<Server> server_;  // empty when the thread has ended
  ServerStatistics statistics_;
  std::size_t connection_count_ = 0;
  std::thread thread_;
};

}  // namespace steertag::peer
