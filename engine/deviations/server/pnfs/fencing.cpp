// Deviations in what ends the rights of a client at data servers (RFC 8881 12.5.5, 12.7, 13.11).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

constexpr std::string_view kShortLeaseOfLayouts = "--lease=5";

constexpr Deviation kFencing[] = {
    {.name = "removed-handle-unknown",
     .breaks = {"RFC8881-12.5.5-2"},
     .sentence = "A data server answers to the handle of a removed file with NFS4ERR_BADHANDLE.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.removed_is_stale = false; }},
     .script_shows = false},
    {.name = "layouts-survive-restart",
     .breaks = {"RFC8881-12.7.1-1"},
     .sentence = "A client that comes back with another verifier has its former layouts.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.restart_ends_layouts = false;
                    }},
     .script_shows = false},
    {.name = "lease-end-unfenced",
     .breaks = {"RFC8881-12.7.3-1", "RFC8881-13.11-1"},
     .sentence = "A client may read and write at data servers after the end of its lease.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.lease_end_fences = false; }},
     .script_shows = false,
     .argument = kShortLeaseOfLayouts},
    {.name = "revocation-unfenced",
     .breaks = {"RFC8881-13.11-1"},
     .sentence = "A client may read and write at data servers after its layout was revoked.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.revocation_fences = false; }},
     .script_shows = false,
     .argument = kShortLeaseOfLayouts},
};

}  // namespace

std::span<const Deviation> fencing_family() {
  return kFencing;
}

}  // namespace steertag::deviations
