// Deviations in private data (RFC 8797), in what follows from them, and in posted receives.
#include <algorithm>

#include "deviations/families.h"
#include "endpoint/limits.h"
#include "mutate/private_data_mutation.h"
#include "wire/private_data.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kVersionAt = 4;
constexpr std::uint32_t kAssumedBytes = 4096;

/// The private data at any offset, whatever its version says.
std::optional<wire::PrivateData> find_any_version(View buffer) {
  const std::optional<std::size_t> at = wire::find_private_data_identifier(buffer);
  if (!at || *at + wire::kPrivateDataBytes > buffer.size()) return std::nullopt;
  Bytes patched(buffer.begin() + static_cast<std::ptrdiff_t>(*at), buffer.end());
  patched[kVersionAt] = std::byte{wire::kPrivateDataVersion};
  const auto found = wire::find_private_data(patched);
  return found ? std::optional(found->data) : std::nullopt;
}

/// The client's private data count for nothing if `is_missed` says so.
template <class IsMissed>
void miss(Connecting& connecting, IsMissed&& is_missed) {
  const auto found = wire::find_private_data(connecting.client_data);
  if (found && is_missed(*found)) connecting.step.client.reset();
}

/// The server announces this variant of its private data, if it announces any.
void announce(Connecting& connecting, std::string_view variant) {
  peer::EndpointOptions& endpoint = connecting.step.endpoint;
  if (endpoint.sends_private_data)
    endpoint.raw_private_data = mutate::private_data(endpoint.announced, variant)->bytes;
}

void keep_first_announcement(Connecting& connecting) {
  auto& first = connecting.server.first_announcement;
  if (!first) first = connecting.step.client;
  connecting.step.client = *first;
}

void clear_own_flag(Connecting& connecting) {
  if (connecting.step.endpoint.announced.remote_invalidation)
    announce(connecting, "private-data.r-flag-toggled");
}

/// An STag of the call that was offered for some octets.
void invalidate_any(Departing& reply) {
  if (!reply.is_reply()) return;
  const auto offer = [&](const wire::Segment& segment) {
    if (!reply.invalidate && segment.length > 0) reply.invalidate = segment.handle;
  };
  for (const wire::ReadSegment& segment : reply.call->read_list) offer(segment.target);
  for (std::size_t chunk = 0; chunk < reply.call->write_list.size(); ++chunk)
    std::ranges::for_each(reply.call->write_list[chunk], offer);
  std::ranges::for_each(reply.call->reply_chunk, offer);
}

void invalidate_unasked(Connecting& connecting) {
  std::optional<wire::PrivateData>& client = connecting.step.client;
  if (!client) client.emplace();
  client->remote_invalidation = true;
}

constexpr Deviation kPrivateData[] = {
    {.name = "private-data-aligned-only",
     .breaks = {"RFC8797-5.2-1"},
     .sentence = "Private data is found only at an offset that is a multiple of four.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      miss(connecting, [](auto& found) { return found.offset % 4 != 0; });
                    }}},
    {.name = "private-data-first-only",
     .breaks = {"RFC8797-5.2-1"},
     .sentence = "Private data is found only at offset zero.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      miss(connecting, [](auto& found) { return found.offset != 0; });
                    }}},
    {.name = "private-data-version-ignored",
     .breaks = {"RFC8797-5.2-3"},
     .sentence = "Private data of any version is taken as version 1.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      connecting.step.client = find_any_version(connecting.client_data);
                    }}},
    {.name = "reserved-bits-refused",
     .breaks = {"RFC8797-4-8"},
     .sentence = "Private data with a reserved bit set is ignored.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      miss(connecting, [](auto& found) { return (found.raw_flags & 0xfe) != 0; });
                    }}},
    {.name = "assumes-4096",
     .breaks = {"RFC8797-5.1-1", "RFC8166-3.3.3-7", "RFC8797-5.2-2"},
     .sentence = "Without private data both thresholds are taken as 4096 octets.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      if (!connecting.step.client)
                        connecting.step.client = {false, kAssumedBytes, kAssumedBytes};
                    }}},
    {.name = "swaps-sizes",
     .breaks = {"RFC8797-4.2-5"},
     .sentence = "The client's send size is used where its receive size belongs.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      auto& client = connecting.step.client;
                      if (client) std::swap(client->send_bytes, client->receive_bytes);
                    }}},
    {.name = "first-announcement-kept",
     .breaks = {"RFC8797-4-1"},
     .sentence = "The private data of the first client stand for those of all others.",
     .server = {.accept = keep_first_announcement},
     .script_shows = false},
    {.name = "announces-reserved-bits",
     .breaks = {"RFC8797-4-7"},
     .sentence = "The server's private data has reserved bits set.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      announce(connecting, "private-data.reserved-bits-all");
                    }}},
    {.name = "private-data-byte-swapped",
     .breaks = {"RFC8797-4-5"},
     .sentence = "The identifier of the private data is in little-endian order.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      announce(connecting, "private-data.identifier-octets-swapped");
                    }},
     .script_shows = false},
    {.name = "announces-version-two",
     .breaks = {"RFC8797-8-1", "RFC8797-4-6"},
     .sentence = "Private data has version 2.",
     .server = {.accept =
                    [](Connecting& connecting) { announce(connecting, "private-data.version-2"); }},
     .script_shows = false},
    {.name = "grant-without-receives",
     .breaks = {"RFC8166-3.3.1-9", "RFC8166-3.3.1-3"},
     .sentence = "Only a quarter of the granted credits have a receive.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      std::uint32_t& receives = connecting.step.endpoint.receives;
                      receives = std::max(1U, (receives - peer::kSpareReceives) / 4);
                    }}},
    {.name = "receives-smaller-than-announced",
     .breaks = {"RFC8797-4-10"},
     .sentence = "Receives have 1024 octets whatever was announced.",
     .server = {.accept =
                    [](Connecting& connecting) { connecting.step.endpoint.receive_bytes = 1024; }}},
    {.name = "receives-below-1024",
     .breaks = {"RFC8166-3.3.3-5", "RFC8166-3.3.3-1"},
     .sentence = "Receives have 512 octets.",
     .server = {.accept =
                    [](Connecting& connecting) { connecting.step.endpoint.receive_bytes = 512; }}},
    {.name = "invalidates-unasked",
     .breaks = {"RFC8797-4.1-3", "RFC8797-3.2-1", "RFC8797-4-9"},
     .sentence = "Replies use Send with Invalidate though the client cleared R.",
     .server = {.accept = invalidate_unasked}},
    {.name = "invalidates-without-own-flag",
     .breaks = {"RFC8797-4.1-3"},
     .sentence = "Replies use Send with Invalidate though the server itself cleared R.",
     .server = {.accept = clear_own_flag, .departure = invalidate_any}},
    {.name = "invalidates-unknown-stag",
     .breaks = {"RFC8797-4.1-2"},
     .sentence = "Send with Invalidate names an STag that is in no call.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.invalidate) *reply.invalidate ^= 0x00ff0000;
                    }}},
    {.name = "invalidates-earlier-call",
     .breaks = {"RFC8797-4.1-2"},
     .sentence = "Send with Invalidate names an STag of the call before.",
     .server = {.departure =
                    [](Departing& reply) {
                      if (reply.invalidate && reply.history->earlier_stag)
                        reply.invalidate = reply.history->earlier_stag;
                    }}},
};

}  // namespace

std::span<const Deviation> private_data_family() {
  return kPrivateData;
}

}  // namespace steertag::deviations
