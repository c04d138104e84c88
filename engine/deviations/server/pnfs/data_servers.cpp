// Deviations in what data servers let through, and in what reaches them (RFC 8881 13).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

constexpr Deviation kDataServers[] = {
    {.name = "data-server-layout-unchecked",
     .breaks = {"RFC8881-12.5.1-3", "RFC8881-13.6-2"},
     .sentence = "READ and WRITE at data servers need no layout.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_layout = false; }},
     .script_shows = false},
    {.name = "data-server-stateid-unchecked",
     .breaks = {"RFC8881-13.9.1-3"},
     .sentence = "Data servers take special stateids, and seqids other than 0.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.checks_stateid_form = false;
                    }},
     .script_shows = false},
    {.name = "data-server-open-unchecked",
     .breaks = {"RFC8881-13.9.1-4", "RFC8881-13.9.2.2-1"},
     .sentence = "Data servers do not ask what the open of a stateid permits.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.checks_open = false; }},
     .script_shows = false},
    {.name = "data-server-access-unchecked",
     .breaks = {"RFC8881-13.12-1", "RFC8881-12.9-1", "RFC8881-13.9.2.3-1"},
     .sentence = "Data servers let every user read and write.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_access = false; }},
     .script_shows = false},
    {.name = "hole-read",
     .breaks = {"RFC8881-13.4.4-2"},
     .sentence = "A data server reads and writes stripe units of its neighbours.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_holes = false; }},
     .script_shows = false},
    {.name = "data-server-locks-ignored",
     .breaks = {"RFC8881-12.5.1-2"},
     .sentence = "Byte-range locks are mandatory, and data servers ignore them.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.locks_are_advisory = false; }},
     .script_shows = false},
    {.name = "data-server-operations-all",
     .breaks = {"RFC8881-13.6-4"},
     .sentence = "A data server has the operations of a server without pNFS.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.housekeeping_only = false; }},
     .script_shows = false},
    {.name = "data-server-write-lost",
     .breaks = {"RFC8881-12.2.5-1"},
     .sentence = "WRITE at a data server leaves the file as it is.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.writes = false; }},
     .script_shows = false},
    {.name = "data-server-offset-ignored",
     .breaks = {"RFC8881-12.5.7-1"},
     .sentence = "READ at a data server gives the first octets of the file.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.reads_at_offset = false; }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> data_servers_family() {
  return kDataServers;
}

}  // namespace steertag::deviations
