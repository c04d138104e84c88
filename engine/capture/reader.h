// Takes the packets of a capture in order and tells of the RPC-over-RDMA connections in them.
#pragma once

#include <memory>
#include <vector>

#include "capture/connection.h"

namespace steertag::capture {

struct ReaderOptions {
  /// Ports besides 20049 on which NFS/RDMA is spoken.
  std::vector<std::uint16_t> ports;
};

/// What passed through a reader.
struct ReaderCounts {
  std::uint64_t packets = 0;
  std::uint64_t other = 0;      // not recognized as RDMA: other protocols, other link types, cut
  std::uint64_t cut = 0;        // that were not captured whole, recognized or not
  std::uint64_t first_cut = 0;  // frame of the first of them; 0 if there is none
  std::uint64_t forgotten = 0;  // connections dropped because more are open than kMostConnections
};

class Reader {
 public:
  explicit Reader(ConnectionSinks& sinks, const ReaderOptions& options = {});
  ~Reader();

  /// To be called with every packet of the capture, in order.
  void read(const Packet& packet);
  /// The capture is over: what is still held back is told, and every connection ends.
  void finish();
  const ReaderCounts& counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::capture
