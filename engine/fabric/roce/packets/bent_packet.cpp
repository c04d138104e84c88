// Patches, cuts, and the CRC over what is left.
#include "fabric/roce/packets/bent_packet.h"

#include <algorithm>
#include <cstring>

#include "fabric/roce/packets/formats.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::size_t kPsnAt = 9;  // in the base header

void move_psn(MutableView packet, std::int32_t by) {
  std::uint32_t psn = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    psn = psn << 8 | std::to_integer<std::uint32_t>(packet[kPsnAt + i]);
  }
  psn = psn_after(psn, static_cast<std::uint32_t>(by) & wire::kPsnMask);
  for (std::size_t i = 0; i < 3; ++i) {
    packet[kPsnAt + i] = static_cast<std::byte>(psn >> (16 - 8 * i));
  }
}

/// Exchanges the headers between base header and payload of a packet with `bytes` octets. Returns
/// its new length.
std::size_t exchange_headers(MutableView packet, std::size_t bytes, View headers) {
  const Opcode opcode = wire::decode_base(packet.data()).opcode;
  const std::size_t end = wire::kBaseBytes + wire::traits(opcode).extension_bytes();
  const std::size_t new_end = wire::kBaseBytes + headers.size();
  if (bytes < end || new_end + (bytes - end) > packet.size()) {
    return bytes;
  }
  std::memmove(packet.data() + new_end, packet.data() + end, bytes - end);
  std::ranges::copy(headers, packet.data() + wire::kBaseBytes);
  return new_end + (bytes - end);
}

}  // namespace

std::size_t bend(const BentPacket& bent, MutableView slot, std::size_t bytes,
                 const wire::InvariantCrc& crc) {
  const std::size_t most = slot.size() - wire::kInvariantCrcBytes;
  std::size_t covered = bytes - wire::kInvariantCrcBytes;
  if (bent.psn_offset != 0) {
    move_psn(slot, bent.psn_offset);
  }
  if (bent.extended_headers) {
    covered = exchange_headers(slot.first(most), covered, *bent.extended_headers);
  }
  for (const Patch& patch : bent.patches) {
    const std::size_t end = patch.offset + patch.octets.size();
    if (patch.offset > covered || end > most) {
      continue;
    }
    std::ranges::copy(patch.octets, slot.begin() + static_cast<std::ptrdiff_t>(patch.offset));
    covered = std::max(covered, end);
  }
  covered = std::min(covered, bent.cut.value_or(covered));
  std::byte* const at = slot.data() + covered;
  // Of less than a base header there is no CRC.
  const std::uint32_t right = covered < wire::kBaseBytes ? 0 : crc.of(View(slot).first(covered));
  wire::InvariantCrc::store(bent.bad_crc ? ~right : right, at);
  return covered + wire::kInvariantCrcBytes;
}

}  // namespace steertag::fabric::roce
