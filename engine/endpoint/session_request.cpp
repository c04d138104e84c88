// Where a request stands in its session.
#include "endpoint/session_request.h"

#include <algorithm>

#include "nfs/binding.h"
#include "nfs/v4/operations.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kLongestTag = 1024;
constexpr std::size_t kSessionIdBytes = 16;
constexpr std::size_t kPlaceBytes = kSessionIdBytes + 4 + 4;

/// Whether the call is a COMPOUND of minor version 1 or above whose first operation this is;
/// `reader` is at that one's arguments then.
bool begins_with(nfs4::Opnum number, wire::Reader& reader) {
  rpc::CallHeader header;
  header.decode(reader);
  if (header.program != nfs::kNfsProgram || header.version != nfs::kNfsVersion4) return false;
  (void)reader.opaque(kLongestTag, "tag");
  const std::uint32_t minor_version = reader.u32("minorversion");
  const std::uint32_t operations = reader.u32("argarray");
  const std::uint32_t first = reader.u32("argop");
  return reader.ok() && minor_version > 0 && operations > 0 &&
         first == static_cast<std::uint32_t>(number);
}

}  // namespace

std::optional<SessionRequest> session_request(View call) {
  wire::Reader reader(call);
  if (!begins_with(nfs4::Opnum::OP_SEQUENCE, reader)) return {};
  const std::size_t place_at = reader.offset();
  const View place = reader.rest().first(std::min(reader.remaining(), kPlaceBytes));
  reader.skip(kPlaceBytes, "sa_sessionid");
  (void)reader.u32("sa_highest_slotid");
  SessionRequest request;
  request.cachethis = reader.u32("sa_cachethis") != 0;
  if (!reader.ok()) return {};
  for (const std::byte octet : place) request.slot_key += static_cast<char>(octet);
  request.session = request.slot_key.substr(0, kSessionIdBytes);
  request.sequence_at = place_at + kSessionIdBytes;
  request.sequence = wire::load_u32(place.data() + kSessionIdBytes);
  return request;
}

std::optional<std::size_t> create_sequence_at(View call) {
  wire::Reader reader(call);
  if (!begins_with(nfs4::Opnum::OP_CREATE_SESSION, reader)) return {};
  (void)reader.u64("csa_clientid");
  const std::size_t at = reader.offset();
  (void)reader.u32("csa_sequence");
  return reader.ok() ? std::optional(at) : std::nullopt;
}

}  // namespace steertag::peer
