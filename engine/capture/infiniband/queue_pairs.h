// Finds the connections in RoCE and InfiniBand packets.
//
// It uses the messages of connection setup. Without them it matches responses to requests.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/connection.h"
#include "capture/datagram.h"
#include "capture/infiniband_frame.h"
#include "capture/reader.h"

namespace steertag::capture::infiniband {

/// At most this many octets are buffered for all connections and flows together. Beyond that the
/// least recently used ones are evicted.
inline constexpr std::size_t kMostBufferedBytes = std::size_t{32} << 20;

/// The invariant CRC at the end of packets is not checked. It covers fields of lower layers that a
/// capture may have changed or lost. Devices that compute it on transmission leave any value in
/// captures of the sender.
class QueuePairs {
 public:
  explicit QueuePairs(ConnectionSinks& sinks, const ReaderOptions& options = {});
  ~QueuePairs();

  /// Returns true for RoCEv2, and ignores any other datagram.
  bool read(const Datagram& datagram);
  bool read(const InfinibandFrame& frame);
  /// The capture ends.
  void finish();
  /// Connections that a limit evicted.
  std::uint64_t forgotten() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::capture::infiniband
