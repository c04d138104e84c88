// Builds and reads the private data of an optimistic connection.
#include "nfs/direct/private_data.h"

#include <algorithm>

#include "wire/direct_format.h"

namespace steertag::direct {
namespace {

constexpr std::byte kPrivateVersion{1};
constexpr std::byte kRecoverableFlag{1};
constexpr std::size_t kFlagsAt = 5;

}  // namespace

void encode_answer(Bytes& out, bool recoverable) {
  wire::Writer(out).u32(wire::kDirectFormatId);
  out.push_back(kPrivateVersion);
  out.push_back(recoverable ? kRecoverableFlag : std::byte{0});
  out.insert(out.end(), 2, std::byte{0});  // reserved
}

void encode(const Ticket& ticket, Bytes& out, bool recoverable) {
  encode_answer(out, recoverable);
  out.insert(out.end(), ticket.begin(), ticket.end());
}

bool is_optimistic(View private_data) {
  return private_data.size() >= kPrivateHeaderOctets && wire::has_direct_format(private_data);
}

bool is_recoverable(View private_data) {
  return is_optimistic(private_data) && private_data[4] == kPrivateVersion &&
         (private_data[kFlagsAt] & kRecoverableFlag) != std::byte{0};
}

std::optional<Ticket> find_ticket(View private_data) {
  const bool whole = private_data.size() >= kPrivateHeaderOctets + kTicketOctets;
  if (!whole || !is_optimistic(private_data) || private_data[4] != kPrivateVersion)
    return std::nullopt;
  Ticket ticket;
  std::ranges::copy(private_data.subspan(kPrivateHeaderOctets, kTicketOctets), ticket.begin());
  return ticket;
}

}  // namespace steertag::direct
