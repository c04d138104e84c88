// Deviations that show only where two features meet.
#include "deviations/families.h"
#include "wire/header.h"
#include "wire/private_data.h"

namespace steertag::deviations {
namespace {

/// With remote invalidation an empty write chunk ends the connection.
void abort_at_empty_chunk(Arriving& arriving) {
  if (!arriving.connection->negotiated().remote_invalidation) return;
  wire::Header header;
  if (!wire::decode(arriving.message(), header)) return;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
    if (header.write_list[chunk].empty()) {
      arriving.abort();
      return;
    }
}

void withhold_long_reply(Departing& reply) {
  const bool is_long = reply.draft.proc == static_cast<std::uint32_t>(wire::Procedure::nomsg);
  const std::uint32_t threshold = reply.connection->negotiated().to_client_bytes;
  if (reply.is_reply() && is_long && threshold <= wire::kDefaultInlineBytes) reply.withheld = true;
}

constexpr Deviation kCombinations[] = {
    {.name = "empty-chunk-ends-invalidating-connection",
     .breaks = {"RFC8267-6.4.1-5", "RFC8166-4.3.2.3-2"},
     .sentence = "Where both sides have set R, an empty write chunk ends the connection.",
     .server = {.arrival = abort_at_empty_chunk},
     .script_shows = false},
    {.name = "long-reply-lost-at-default-threshold",
     .breaks = {"RFC8166-3.5.3-7"},
     .sentence = "Long replies are never sent where the threshold is 1024 octets.",
     .server = {.departure = withhold_long_reply},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> combinations_family() {
  return kCombinations;
}

}  // namespace steertag::deviations
