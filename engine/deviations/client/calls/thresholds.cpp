// Deviations of the client: what it announces at a connection.
// Also how it takes the server's announcement (RFC 8797 4, 5).
#include <algorithm>

#include "deviations/families.h"
#include "endpoint/limits.h"
#include "mutate/private_data_mutation.h"

namespace steertag::deviations {
namespace {

constexpr std::uint8_t kReserved = 0xFE;  // RFC 8797 4
constexpr std::uint32_t kSmallSends = 1024;

void assume_own(peer::UpStep& step, ClientHistory& /*history*/) {
  if (!step.endpoint.peer()) step.limits = wire::negotiate(step.announced, step.announced);
}

void keep_first(peer::UpStep& step, ClientHistory& history) {
  if (history.first_limits) step.limits = *history.first_limits;
}

void send_as_announced(peer::UpStep& step, ClientHistory& /*history*/) {
  if (step.endpoint.found()) step.limits.to_server_bytes = step.announced.send_bytes;
}

void want_offset_zero(peer::UpStep& step, ClientHistory& /*history*/) {
  const auto& found = step.endpoint.found();
  if (found && found->offset != 0) step.limits = {};
}

void heed_reserved(peer::UpStep& step, ClientHistory& /*history*/) {
  const auto& found = step.endpoint.found();
  if (found && (found->raw_flags & kReserved) != 0) step.limits = {};
}

void send_more(peer::UpStep& step, ClientHistory& /*history*/) {
  if (const auto& peer = step.endpoint.peer()) step.limits = wire::negotiate(step.announced, *peer);
}

void send_as_received(peer::UpStep& step, ClientHistory& /*history*/) {
  std::uint32_t& bytes = step.limits.to_server_bytes;
  bytes = std::max(bytes, step.limits.to_client_bytes);
}

void receive_as_sent(peer::UpStep& step, ClientHistory& /*history*/) {
  std::uint32_t& bytes = step.limits.to_client_bytes;
  bytes = std::max(bytes, step.limits.to_server_bytes);
}

void set_reserved(peer::ConnectStep& step) {
  if (!step.endpoint.sends_private_data) return;
  step.endpoint.raw_private_data =
      mutate::private_data(step.endpoint.announced, "private-data.reserved-bits-all")->bytes;
}

void disconnect_over_large(ArrivingMessage& arriving) {
  if (arriving.message().size() > peer::kDefaultAnnouncedBytes) arriving.disconnect();
}

constexpr Deviation kThresholds[] = {
    {.name = "large-inline-reply-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-1-1"},
     .sentence = "A Send of more than 4096 octets ends the connection.",
     .client = {.arrival = disconnect_over_large}},
    {.name = "missing-private-data-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8797-5.1-1", "RFC8166-3.3.3-7", "RFC8797-5.2-2"},
     .sentence = "A server without private data is taken to have announced what we have.",
     .client = {.up = assume_own}},
    {.name = "thresholds-kept",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4-1"},
     .sentence = "The thresholds of the first connection stay for all others.",
     .client = {.up = keep_first}},
    {.name = "server-receive-size-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4.2-4"},
     .sentence = "Calls may be as large as we can send, whatever the server can receive.",
     .client = {.up = send_as_announced}},
    {.name = "calls-as-long-as-replies",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4.2-4", "RFC8166-3.3.2-1"},
     .sentence = "Where replies may be longer than calls, calls are as long.",
     .client = {.up = send_as_received}},
    {.name = "replies-as-long-as-calls",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.3-1"},
     .sentence =
         "Where calls may be longer than replies, no reply chunk is offered for those between.",
     .client = {.up = receive_as_sent}},
    {.name = "format-at-offset-zero-only",
     .side = trace::Role::client,
     .breaks = {"RFC8797-5.2-1"},
     .sentence = "Private data of the server are found at offset 0 only.",
     .client = {.up = want_offset_zero}},
    {.name = "reserved-bits-heeded",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4-8"},
     .sentence = "Private data of the server with reserved bits set do not count.",
     .client = {.up = heed_reserved}},
    {.name = "announces-small-sends",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4-10", "RFC8797-4.2-4"},
     .sentence = "The private data announce Sends of 1024 octets, and longer ones are sent.",
     .client = {.connect =
                    [](peer::ConnectStep& step) {
                      step.endpoint.announced.send_bytes = kSmallSends;
                    },
                .up = send_more}},
    {.name = "announces-reserved-bits",
     .side = trace::Role::client,
     .breaks = {"RFC8797-4-7"},
     .sentence = "Reserved bits are set in the private data.",
     .client = {.connect = set_reserved}},
    {.name = "startup-key-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC5044-7.1.1-1"},
     .sentence = "Any key counts as that of an MPA reply.",
     .client = {.connect =
                    [](peer::ConnectStep& step) {
                      step.endpoint.connection.iwarp.startup.checks_key = false;
                    }}},
};

}  // namespace

std::span<const Deviation> thresholds_family() {
  return kThresholds;
}

}  // namespace steertag::deviations
