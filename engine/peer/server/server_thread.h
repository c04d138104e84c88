// The reference server with its own provider, memory storage and thread, for programs that have
// their own work to do.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "peer/server/memory_backend.h"
#include "peer/server/server.h"

namespace steertag::peer {

/// Starts in the constructor's place by `start`, ends in the destructor. All members may be called
/// from any thread.
class ServerThread {
 public:
  static Expected<std::unique_ptr<ServerThread>, fabric::Error> start(const fabric::Url& url,
                                                                      const ServerOptions& options,
                                                                      fabric::RandomSource random,
                                                                      Clock clock);
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  std::uint16_t port() const { return port_; }
  /// As of the end of the last poll.
  ServerStatistics statistics() const;
  std::size_t connection_count() const;
  /// A deviation ended it.
  bool failed() const { return failed_; }
  /// Returns when the thread has ended; connections are closed.
  void stop();

 private:
  ServerThread() = default;
  void run();

  std::unique_ptr<fabric::Provider> provider_;
  std::unique_ptr<MemoryBackend> storage_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::atomic<bool> end_ = false;
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;  // guards the two below
  ServerStatistics statistics_;
  std::size_t connection_count_ = 0;
  std::thread thread_;
};

}  // namespace steertag::peer
