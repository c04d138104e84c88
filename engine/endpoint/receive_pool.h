// Receives that all connections of a server share, and their memory.
#pragma once

#include <memory>

#include "endpoint/receive_memory.h"
#include "fabric/fabric.h"

namespace steertag::peer {

/// Messages are copied out of it when they have arrived, and their receive is posted again. So a
/// call that takes long holds none, and only Sends that have begun do.
class ReceivePool {
 public:
  /// Posts `count` receives of `receive_bytes` each. Errc::unsupported if the provider has no
  /// shared receive queue. Must outlive the connections.
  static Expected<std::unique_ptr<ReceivePool>, fabric::Error> open(fabric::Provider& provider,
                                                                    fabric::Domain& domain,
                                                                    std::uint32_t count,
                                                                    std::uint32_t receive_bytes);
  fabric::ReceiveQueue& queue() { return *queue_; }
  /// The message that was in this receive has been copied.
  void repost(fabric::WorkId id) { queue_->post(buffer(id), id); }

 private:
  ReceivePool(std::unique_ptr<fabric::ReceiveQueue> queue, std::uint32_t count,
              std::uint32_t receive_bytes)
      : memory_(std::size_t{count} * receive_bytes),
        queue_(std::move(queue)),
        receive_bytes_(receive_bytes) {}
  MutableView buffer(fabric::WorkId id) {
    return memory_.bytes().subspan(static_cast<std::size_t>(id) * receive_bytes_, receive_bytes_);
  }

  ReceiveMemory memory_;
  std::unique_ptr<fabric::ReceiveQueue> queue_;
  std::size_t receive_bytes_;
};

}  // namespace steertag::peer
