// One operation of the send queue, and how far it is.
#pragma once

#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/formats.h"
#include "fabric/software/posted.h"

namespace steertag::fabric::roce {

/// One operation of the send queue.
struct Outgoing : Posted {
  Operation kind = Operation::send;
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  SharedBend bent;
  // Progress, in packets. A Read has as many as its response.
  bool started = false;
  std::uint32_t first_psn = 0;
  std::uint32_t packets = 0;
  std::uint32_t announced = 0;  // sent at least once
  std::uint32_t done = 0;       // acknowledged, or received
  // Of a Read: the packet inside a part from which its response was requested again, or 0.
  std::uint32_t restart = 0;
  // Where the payload of the packet to be sent starts.
  std::uint32_t cursor_packet = 0;
  std::size_t cursor_part = 0;
  std::size_t cursor_offset = 0;

  /// Initializes a reused slot; buffers keep their capacity.
  void reset(Operation new_kind, WorkId new_id);
};

/// The opcode of one of its packets. It is no RDMA Read.
Opcode opcode_of(const Outgoing& operation, std::uint32_t packet);

}  // namespace steertag::fabric::roce
