// Deviations in stateids and opens of NFS version 4.1 (RFC 8881 9, 16.2.3.1.2, 18.18).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr Deviation kStateids[] = {
    {.name = "secinfo-keeps-filehandle",
     .breaks = {"RFC8881-18.29.3-1"},
     .sentence = "SECINFO and SECINFO_NO_NAME leave the current filehandle.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.states.secinfo_consumes = false; }},
     .script_shows = false},
    {.name = "stateid-not-restored",
     .breaks = {"RFC8881-16.2.3.1.2-1"},
     .sentence = "RESTOREFH restores the filehandle, and leaves the current stateid as it is.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.states.restores_stateid = false; }},
     .script_shows = false},
    {.name = "denial-outlives-downgrade",
     .breaks = {"RFC8881-18.18.3-1"},
     .sentence = "What an open denies stays denied behind OPEN_DOWNGRADE.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.states.gives_denial_back = false; }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> stateids_family() {
  return kStateids;
}

}  // namespace steertag::deviations
