// Deviations that show only where two features meet.
#include "deviations/families.h"
#include "endpoint/limits.h"
#include "wire/header.h"
#include "wire/private_data.h"

namespace steertag::deviations {
namespace {

bool brings_empty_chunk(const Arriving& arriving) {
  wire::Header header;
  if (!wire::decode(arriving.message(), header)) return false;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
    if (header.write_list[chunk].empty()) return true;
  return false;
}

/// With remote invalidation an empty write chunk ends the connection.
void abort_at_empty_chunk(Arriving& arriving) {
  if (arriving.connection->negotiated().remote_invalidation && brings_empty_chunk(arriving))
    arriving.abort();
}

bool waits_for_callback(const Arriving& arriving) {
  return !arriving.history.callbacks.empty();
}

void abort_at_empty_chunk_beside_callback(Arriving& arriving) {
  if (waits_for_callback(arriving) && brings_empty_chunk(arriving)) arriving.abort();
}

void refuse_long_call_beside_callback(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  const bool is_long = words && words->proc == static_cast<std::uint32_t>(wire::Procedure::nomsg);
  if (is_long && waits_for_callback(arriving)) arriving.refuse();
}

/// With remote invalidation RDMA_ERROR in place of a callback's reply ends the connection.
void abort_at_callback_error(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  const bool is_error = words && words->proc == static_cast<std::uint32_t>(wire::Procedure::error);
  if (is_error && arriving.connection->negotiated().remote_invalidation &&
      arriving.history.callbacks.contains(words->xid))
    arriving.abort();
}

/// Larger thresholds than usual are announced, and not used.
void withhold_large_inline_reply(Departing& reply) {
  if (reply.is_reply() && reply.draft.payload.size() > peer::kDefaultAnnouncedBytes)
    reply.withheld = true;
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
    {.name = "empty-chunk-beside-callback-disconnects",
     .breaks = {"RFC8267-6.4.1-5"},
     .sentence = "While a callback waits for its reply, an empty write chunk ends the connection.",
     .server = {.arrival = abort_at_empty_chunk_beside_callback},
     .script_shows = false},
    {.name = "long-call-beside-callback-refused",
     .breaks = {"RFC8166-3.3.1-9"},
     .sentence = "While a callback waits for its reply, long calls are answered with ERR_CHUNK.",
     .server = {.arrival = refuse_long_call_beside_callback},
     .script_shows = false},
    {.name = "callback-error-ends-invalidating-connection",
     .breaks = {"RFC8166-4.2.4-5"},
     .sentence = "Where both sides have set R, RDMA_ERROR as the answer to a callback ends the "
                 "connection.",
     .server = {.arrival = abort_at_callback_error},
     .script_shows = false},
    {.name = "large-inline-reply-lost",
     .breaks = {"RFC8166-3.3.1-9"},
     .sentence = "Replies with more than 4096 octets inline are never sent.",
     .server = {.departure = withhold_large_inline_reply},
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
