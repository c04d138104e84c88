// Finds the connections in packets of RoCE and InfiniBand, by the messages that set them up or,
// where the capture lacks those, by what answers what.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/connection.h"
#include "capture/datagram.h"
#include "capture/infiniband_frame.h"
#include "capture/reader.h"

namespace steertag::capture::infiniband {

/// Octets that all connections and flows together hold back; beyond that the ones used least lately
/// are forgotten.
inline constexpr std::size_t kMostBufferedBytes = std::size_t{32} << 20;

/// The invariant CRC at the end of packets is not checked: it covers fields of lower layers that a
/// capture may have changed or lost, and devices that add it on their way out leave anything in it.
class QueuePairs {
 public:
  explicit QueuePairs(ConnectionSinks& sinks, const ReaderOptions& options = {});
  ~QueuePairs();

  /// A datagram that is not RoCEv2 is left alone. True if it was.
  bool read(const Datagram& datagram);
  bool read(const InfinibandFrame& frame);
  /// The capture is over.
  void finish();
  /// Connections that were forgotten because of a limit.
  std::uint64_t forgotten() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::capture::infiniband
