// Private data as the server writes and reads it.
#include "server/rdma/announcement.h"

#include <algorithm>

namespace steertag::peer {
namespace {

constexpr std::uint32_t kAssumedBytes = 4096;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kFlagsAt = 5;

/// The private data at any offset, whatever its version says.
std::optional<wire::PrivateData> find_any_version(View buffer) {
  const std::optional<std::size_t> at = wire::find_private_data_identifier(buffer);
  if (!at || *at + wire::kPrivateDataBytes > buffer.size()) return std::nullopt;
  Bytes patched(buffer.begin() + static_cast<std::ptrdiff_t>(*at), buffer.end());
  patched[kVersionAt] = std::byte{wire::kPrivateDataVersion};
  const auto found = wire::find_private_data(patched);
  return found ? std::optional(found->data) : std::nullopt;
}

}  // namespace

Bytes own_announcement(const wire::PrivateData& announced, const Deviations& deviations) {
  wire::PrivateData data = announced;
  if (deviations.has(Deviation::invalidates_without_own_flag)) data.remote_invalidation = false;
  Bytes octets;
  wire::encode(data, octets);
  if (deviations.has(Deviation::announces_reserved_bits)) octets[kFlagsAt] |= std::byte{0xaa};
  if (deviations.has(Deviation::private_data_byte_swapped))
    std::reverse(octets.begin(), octets.begin() + kVersionAt);
  if (deviations.has(Deviation::announces_version_two)) octets[kVersionAt] = std::byte{2};
  return octets;
}

std::optional<wire::PrivateData> client_announcement(View private_data,
                                                     const Deviations& deviations) {
  const auto found = wire::find_private_data(private_data);
  std::optional<wire::PrivateData> client;
  if (found) client = found->data;
  if (deviations.has(Deviation::private_data_version_ignored))
    client = find_any_version(private_data);
  if (found && found->offset % 4 != 0 && deviations.has(Deviation::private_data_aligned_only))
    client.reset();
  if (found && found->offset != 0 && deviations.has(Deviation::private_data_first_only))
    client.reset();
  if (found && (found->raw_flags & 0xfe) != 0 && deviations.has(Deviation::reserved_bits_refused))
    client.reset();
  if (!client && deviations.has(Deviation::assumes_4096))
    client = wire::PrivateData{false, kAssumedBytes, kAssumedBytes};
  if (client && deviations.has(Deviation::swaps_sizes))
    std::swap(client->send_bytes, client->receive_bytes);
  return client;
}

}  // namespace steertag::peer
