// Deviations of the server's roce provider: below messages, in InfiniBand's transport.
#include "deviations/families.h"
#include "fabric/roce/policy.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

constexpr Deviation kFamily[] = {
    {.name = "psn-unchecked",
     .breaks = {"IBA-9.7-1"},
     .sentence = "Requests with any later PSN are taken.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_sequence = false; }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> roce_family() {
  return kFamily;
}

}  // namespace steertag::deviations
