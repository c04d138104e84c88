// Where a request stands in its session.
#include "peer/session_request.h"

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

}  // namespace

std::optional<SessionRequest> session_request(View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (header.program != nfs::kNfsProgram || header.version != nfs::kNfsVersion4) return {};
  (void)reader.opaque(kLongestTag, "tag");
  const std::uint32_t minor_version = reader.u32("minorversion");
  const std::uint32_t operations = reader.u32("argarray");
  const std::uint32_t first = reader.u32("argop");
  if (!reader.ok() || minor_version == 0 || operations == 0) return {};
  if (first != static_cast<std::uint32_t>(nfs4::Opnum::OP_SEQUENCE)) return {};
  const std::size_t place_at = reader.offset();
  const View place = reader.rest().first(std::min(reader.remaining(), kPlaceBytes));
  reader.skip(kPlaceBytes, "sa_sessionid");
  (void)reader.u32("sa_highest_slotid");
  SessionRequest request;
  request.cachethis = reader.u32("sa_cachethis") != 0;
  if (!reader.ok()) return {};
  for (const std::byte octet : place) request.place += static_cast<char>(octet);
  request.session = request.place.substr(0, kSessionIdBytes);
  request.sequence_at = place_at + kSessionIdBytes;
  request.sequence = wire::load_u32(place.data() + kSessionIdBytes);
  return request;
}

}  // namespace steertag::peer
