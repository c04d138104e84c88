// Deviations in the roles of a server, and in what its servers have in common (RFC 8881 12.6, 13).
#include "deviations/families.h"
#include "deviations/server/compound.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using peer::ServerOptions;

constexpr std::uint32_t kBothRoles =
    nfs4::EXCHGID4_FLAG_USE_PNFS_MDS | nfs4::EXCHGID4_FLAG_USE_PNFS_DS;

template <class Change>
void change_roles(peer::ReplyStep& reply, Change change) {
  change_result<nfs4::ExchangeIdResult>(reply, Opnum::OP_EXCHANGE_ID,
                                        [&](auto& result) { change(result.resok4.eir_flags); });
}

constexpr Deviation kRoles[] = {
    {.name = "data-server-flag-missing",
     .breaks = {"RFC8881-13.1-7"},
     .sentence = "A data server says that it is a server without pNFS.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_roles(reply, [](std::uint32_t& flags) {
                        flags &= ~nfs4::EXCHGID4_FLAG_USE_PNFS_DS;
                        flags |= nfs4::EXCHGID4_FLAG_USE_NON_PNFS;
                      });
                    }},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "data-server-role-mixed",
     .breaks = {"RFC8881-13.1-2"},
     .sentence = "A data server returns all three roles in EXCHANGE_ID.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_roles(reply, [](std::uint32_t& flags) {
                        flags |= nfs4::EXCHGID4_FLAG_MASK_PNFS;
                      });
                    }},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "data-server-commit-verifier",
     .breaks = {"RFC8881-18.32.3-1"},
     .sentence = "COMMIT at a data server has another write verifier than WRITE there.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::CommitResult>(reply, Opnum::OP_COMMIT, [](auto& result) {
                        result.resok4.writeverf[0] ^= std::byte{1};
                      });
                    }},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "layouts-unavailable-at-data-server",
     .breaks = {"RFC8881-12.6-2", "RFC8881-13.6-4"},
     .sentence = "A data server answers to operations on layouts with NFS4ERR_LAYOUTUNAVAILABLE.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.layouts_unsupported = false;
                    }},
     .script_shows = false},
    {.name = "roles-fewer-than-asked",
     .breaks = {"RFC8881-13.1-3"},
     .sentence = "A server with both roles says one of them to a client that asks for all three.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      const auto asked =
                          arguments_of<nfs4::ExchangeIdArgs>(reply.call, Opnum::OP_EXCHANGE_ID);
                      if (!asked || (asked->eia_flags & nfs4::EXCHGID4_FLAG_MASK_PNFS) !=
                                        nfs4::EXCHGID4_FLAG_MASK_PNFS)
                        return;
                      change_roles(reply, [](std::uint32_t& flags) {
                        if ((flags & kBothRoles) == kBothRoles)
                          flags &= ~nfs4::EXCHGID4_FLAG_USE_PNFS_DS;
                      });
                    }},
     .script_shows = false},
    {.name = "data-server-lease-short",
     .breaks = {"RFC8881-13.1.1-1"},
     .sentence = "Data servers have a lease of a fifth of that of their metadata server.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.lease_of_metadata_server = false;
                    }},
     .script_shows = false,
     .argument = "--lease=5"},
    {.name = "roles-mixed-in-compound",
     .breaks = {"RFC8881-13.6-5"},
     .sentence = "A server with both roles executes a COMPOUND that mixes them.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.second_role = true;
                      options.pnfs_policy.separates_roles = false;
                    }},
     .script_shows = false},
    {.name = "data-server-verifier-own",
     .breaks = {"RFC8881-13.7-3"},
     .sentence = "Each data server has a write verifier of its own, and COMMIT another one.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.one_verifier = false; }},
     .script_shows = false,
     .argument = "--commit=mds"},
    {.name = "write-verifier-survives-restart",
     .breaks = {"RFC8881-13.7-3"},
     .sentence = "Data servers lose what is written, and verifiers are the same after a restart.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.writes = false;
                      options.pnfs_policy.verifier_of_run = false;
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> roles_family() {
  return kRoles;
}

}  // namespace steertag::deviations
