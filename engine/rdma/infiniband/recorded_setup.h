// What a recorded connection says of itself at its setup.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/datagram_capture.h"

namespace steertag::rdma::infiniband {

/// The queue pair of the client, from its first REQ. Nothing if the capture has none. All
/// connections of a host have one UDP port, so this number tells them apart.
std::optional<std::uint32_t> client_queue_pair(const trace::DatagramCapture& capture);

}  // namespace steertag::rdma::infiniband
