// A fault hook: one packet that leaves otherwise than its operation wants.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {
class InvariantCrc;
}

namespace steertag::fabric::roce {

/// Octets in place of the right ones, counted from the base header.
struct Patch {
  std::size_t offset = 0;
  Bytes octets;  // those beyond the packet's end are appended to it
};

/// The alterations of one packet. Its repetitions are right, so that a responder that drops it, or
/// asks for it again, gets it after all. The invariant CRC covers what leaves.
struct BentPacket {
  // Of the packet among those of its operation. Startup has a REQ (0) and an RTU (1), or a REP (0).
  std::uint32_t index = 0;
  std::int32_t psn_offset = 0;  // added to the right PSN
  // In place of the headers behind the base header (InfiniBand: extended transport headers).
  std::optional<Bytes> extended_headers;
  std::vector<Patch> patches;
  std::optional<std::size_t> cut;  // octets that are left, without the CRC
  bool bad_crc = false;
  std::uint32_t copies = 1;   // 0: it is lost
  bool every_time = false;    // repetitions are bent too
  bool beyond_depth = false;  // of a READ: it does not wait for those in flight
};
using SharedBend = std::shared_ptr<const BentPacket>;

/// Alters a packet with its CRC, which is the first `bytes` of `slot`. Returns the new length. What
/// does not fit the slot stays away.
std::size_t bend(const BentPacket& bent, MutableView slot, std::size_t bytes,
                 const rdma::infiniband::InvariantCrc& crc);

}  // namespace steertag::fabric::roce
