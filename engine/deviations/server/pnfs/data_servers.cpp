// Deviations in what data servers let through, and in what reaches them (RFC 8881 13).
#include "deviations/families.h"
#include "deviations/server/compound.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

constexpr std::string_view kShortLease = "--lease=5";

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
     .sentence = "Data servers ignore byte-range locks that are mandatory.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_locks = false; }},
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
    {.name = "dense-stripe-ignored",
     .breaks = {"RFC8881-13.4.4-3"},
     .sentence = "With dense packing a data server takes every stripe for the first one.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.counts_stripes = false; }},
     .script_shows = false,
     .argument = "--packing=dense"},
    {.name = "data-server-checks-at-arrival",
     .breaks = {"RFC8881-13.6-2", "RFC8881-13.9.2.2-1", "RFC8881-12.7.3-1", "RFC8881-13.11-1"},
     .sentence =
         "Data servers check a call when it comes, and execute it when its chunks are there.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.checks_when_executed = false;
                    }},
     .script_shows = false,
     .argument = kShortLease},
    {.name = "data-server-commit-unchecked",
     .breaks = {"RFC8881-13.6-2", "RFC8881-13.11-1"},
     .sentence = "COMMIT at data servers needs no layout.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_commit = false; }},
     .script_shows = false,
     .argument = kShortLease},
    {.name = "data-server-lock-stateid-refused",
     .breaks = {"RFC8881-13.9.1-4"},
     .sentence = "Data servers refuse the stateids of locks and delegations.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.takes_every_stateid = false;
                    }},
     .script_shows = false},
    {.name = "data-server-lock-stateid-kept",
     .breaks = {"RFC8881-13.9.1-4"},
     .sentence = "Data servers go on with stateids of locks and delegations that have ended.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.ends_stateids = false; }},
     .script_shows = false},
    {.name = "data-server-housekeeping-refused",
     .breaks = {"RFC8881-13.6-4"},
     .sentence = "A data server answers to BACKCHANNEL_CTL with NFS4ERR_NOTSUPP.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::BackchannelCtlResult>(
                          reply, nfs4::Opnum::OP_BACKCHANNEL_CTL,
                          [](auto& result) { result.status = nfs4::Status::NFS4ERR_NOTSUPP; });
                    }},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "truncation-forgotten",
     .breaks = {"RFC8881-13.6-7"},
     .sentence = "SETATTR of the size changes nothing.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::SetattrArgs>(
                          call, nfs4::Opnum::OP_SETATTR, [](nfs4::SetattrArgs& args) {
                            if (args.obj_attributes.attrmask.test(nfs4::FATTR4_SIZE))
                              args.obj_attributes = {};
                          });
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> data_servers_family() {
  return kDataServers;
}

}  // namespace steertag::deviations
