// Reads the packets of a capture in order and reports its RPC-over-RDMA connections.
#pragma once

#include <memory>
#include <vector>

#include "capture/connection.h"

namespace steertag::capture {

struct ReaderOptions {
  /// Ports of NFS/RDMA besides 20049.
  std::vector<std::uint16_t> ports;
};

/// Counters of a reader.
struct ReaderCounts {
  std::uint64_t packets = 0;
  // not recognized as RDMA: other protocols, other link types, truncated
  std::uint64_t other = 0;
  std::uint64_t cut = 0;        // truncated, recognized or not
  std::uint64_t first_cut = 0;  // frame of the first truncated one; 0 if there is none
  std::uint64_t forgotten = 0;  // connections evicted because more are open than kMostConnections
};

class Reader {
 public:
  explicit Reader(ConnectionSinks& sinks, const ReaderOptions& options = {});
  ~Reader();

  /// Call it with every packet of the capture, in order.
  void read(const Packet& packet);
  /// The capture ends: reports everything that is queued, and ends every connection.
  void finish();
  const ReaderCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::capture
