// Deviations in what a server grants for direct access, and in what it revokes.
// Specified in docs/direct-access.md.
#include <algorithm>

#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/direct/procedures.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

using peer::ContentChange;
using peer::PlaceChoice;
using peer::ServerOptions;

/// `change(Args&)` of a call of this procedure.
template <class Args, class Change>
void change_direct_call(peer::CallStep& call, direct::Procedure procedure, Change change) {
  wire::Reader reader(message_of(call));
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.program != direct::kProgram ||
      header.procedure != static_cast<std::uint32_t>(procedure))
    return;
  Args args;
  args.decode(reader);
  if (!reader.ok()) return;
  change(args);
  Bytes octets;
  wire::Writer writer(octets);
  header.encode(writer);
  args.encode(writer);
  call.instead = std::move(octets);
}

// The shortest lease that the server takes: a case waits for its end.
constexpr std::string_view kShortLease = "--lease=5";

constexpr Deviation kDirectAccess[] = {
    {.name = "reference-survives-write",
     .breaks = {"ODAFS-9"},
     .sentence = "WRITE revokes no reference.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.unseen = ContentChange::data;
                    }},
     .script_shows = false},
    {.name = "reference-survives-truncation",
     .breaks = {"ODAFS-9"},
     .sentence = "Another size of a file revokes no reference.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.unseen = ContentChange::size;
                    }},
     .script_shows = false},
    {.name = "reference-survives-chmod",
     .breaks = {"ODAFS-10"},
     .sentence = "Another mode, owner or group of a file revokes no reference.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.unseen = ContentChange::readers;
                    }},
     .script_shows = false},
    {.name = "reference-survives-removal",
     .breaks = {"ODAFS-10"},
     .sentence = "The end of a file revokes no reference.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.unseen = ContentChange::removal;
                    }},
     .script_shows = false},
    {.name = "reference-survives-denial",
     .breaks = {"ODAFS-11"},
     .sentence = "An OPEN that denies reading revokes no reference.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.unseen = ContentChange::denial;
                    }},
     .script_shows = false},
    {.name = "reference-survives-session",
     .breaks = {"ODAFS-12"},
     .sentence = "References stay valid after the end of the session, or of the client.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.follows_sessions = false;
                      options.direct_policy.grants.follows_clients = false;
                    }},
     .script_shows = false},
    {.name = "reference-survives-session-alone",
     .breaks = {"ODAFS-12"},
     .sentence = "References stay valid after DESTROY_SESSION, as long as there is the client.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.follows_sessions = false;
                    }},
     .script_shows = false},
    {.name = "reference-survives-client",
     .breaks = {"ODAFS-12"},
     .sentence = "References stay valid after the end of a client that has no session.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.follows_clients = false;
                    }},
     .script_shows = false},
    {.name = "reference-survives-lease",
     .breaks = {"ODAFS-12"},
     .sentence = "References stay valid after the end of the client's lease.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.follows_leases = false;
                    }},
     .script_shows = false,
     .argument = kShortLease},
    {.name = "optimistic-read-renews-lease",
     .breaks = {"ODAFS-25"},
     .sentence = "An RDMA Read renews the lease of its client.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.reads.renews_lease = true;
                    }},
     .script_shows = false,
     .argument = kShortLease},
    {.name = "optimistic-read-changes-time",
     .breaks = {"ODAFS-25"},
     .sentence = "An RDMA Read changes time_access.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.reads.touches_files = true;
                    }},
     .script_shows = false},
    {.name = "revocation-keeps-data",
     .breaks = {"ODAFS-10"},
     .sentence = "A revoked frame is invalid, and keeps its data.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.wipes_data = false;
                    }},
     .script_shows = false},
    {.name = "revoked-memory-closed",
     .breaks = {"ODAFS-26"},
     .sentence = "The memory of a revoked frame is closed at once.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.keeps_memory = false;
                    }},
     .script_shows = false},
    {.name = "mixture-sealed",
     .breaks = {"ODAFS-24", "ODAFS-9"},
     .sentence = "A revoked frame stays valid, with other octets in its second half.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.revocation.seals_half = true;
                    }},
     .script_shows = false},
    {.name = "old-memory-behind-data",
     .breaks = {"ODAFS-32"},
     .sentence = "Where a block ends with zeros its frame has other octets.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.clears_memory = false;
                    }},
     .script_shows = false},
    {.name = "ticket-replayed",
     .breaks = {"ODAFS-29"},
     .sentence = "A ticket opens two optimistic connections.",
     .server = {.options = [](ServerOptions& options) { options.direct_policy.tickets.uses = 2; }},
     .script_shows = false},
    {.name = "ticket-unchecked",
     .breaks = {"ODAFS-29"},
     .sentence = "Any ticket opens the optimistic connection of a user who waits for one.",
     .server = {.options =
                    [](ServerOptions& options) { options.direct_policy.tickets.checks = false; }},
     .script_shows = false},
    {.name = "ticket-of-any-host",
     .breaks = {"ODAFS-29"},
     .sentence = "A ticket opens an optimistic connection from another host.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.tickets.checks_host = false;
                    }},
     .script_shows = false},
    {.name = "ticket-without-end",
     .breaks = {"ODAFS-29"},
     .sentence = "A ticket is good for as long as its user waits.",
     .server = {.options =
                    [](ServerOptions& options) { options.direct_policy.tickets.lapses = false; }},
     .script_shows = false,
     .argument = kShortLease},
    {.name = "optimistic-send-taken",
     .breaks = {"ODAFS-30"},
     .sentence = "The server has a receive for a Send on the optimistic connection.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.tickets.refuses_sends = false;
                    }},
     .script_shows = false},
    {.name = "fault-ends-all",
     .breaks = {"ODAFS-30", "ODAFS-31"},
     .sentence = "A fault on one optimistic connection ends those of all users.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.tickets.ends_alone = false;
                    }},
     .script_shows = false},
    {.name = "refusal-unasked",
     .breaks = {"ODAFS-34"},
     .sentence = "A fault is refused by a message that the client did not agree to.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.faults.needs_word = false;
                    }},
     .script_shows = false},
    {.name = "agreed-fault-disconnects",
     .breaks = {"ODAFS-34"},
     .sentence = "A fault ends the connection although both sides know recoverable refusals.",
     .server = {.options =
                    [](ServerOptions& options) { options.direct_policy.faults.recovers = false; }},
     .script_shows = false},
    {.name = "refusal-of-next-read",
     .breaks = {"ODAFS-34"},
     .sentence = "A recoverable refusal has the number of the Read behind.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.refusal_msn_offset = 1; }},
     .script_shows = false},
    {.name = "foreign-domain",
     .breaks = {"ODAFS-5"},
     .sentence = "All users share one protection domain.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.own_domains = false;
                      options.direct_policy.grants.binds_windows = false;
                    }},
     .script_shows = false},
    {.name = "frame-address-reused",
     .breaks = {"ODAFS-7"},
     .sentence = "The frame of a revoked block gets the next block of its length.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.own_frames = false;
                    }},
     .script_shows = false},
    {.name = "generation-used-again",
     .breaks = {"ODAFS-7"},
     .sentence = "A block that is granted again has the generation of its frame before.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.fresh_generations = false;
                    }},
     .script_shows = false},
    {.name = "bases-in-a-row",
     .breaks = {"ODAFS-6"},
     .sentence = "The base of a reference is a fixed step behind the one before.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.direct_policy.grants.places = PlaceChoice::bases_in_a_row;
                    }},
     .script_shows = false},
    {.name = "bases-grow",
     .breaks = {"ODAFS-6"},
     .sentence = "The base of a reference is behind the one before, by a random step.",
     .server =
         {.options =
              [](ServerOptions& options) {
                options.direct_policy.grants.places = PlaceChoice::growing_bases;
              }},
     .script_shows = false},
    {.name = "stags-in-a-row",
     .breaks = {"ODAFS-6"},
     .sentence = "The STag of a reference is a fixed step above the one before.",
     .server =
         {.options =
              [](ServerOptions& options) {
                options.direct_policy.grants.places = PlaceChoice::stags_in_a_row;
              }},
     .script_shows = false},
    {.name = "base-follows-stag",
     .breaks = {"ODAFS-6"},
     .sentence = "The base of a reference is its STag, shifted.",
     .server =
         {.options =
              [](ServerOptions& options) {
                options.direct_policy.grants.places = PlaceChoice::bases_of_stags;
              }},
     .script_shows = false},
    {.name = "place-granted-again",
     .breaks = {"ODAFS-6"},
     .sentence = "A new frame lies where one lay that was given back.",
     .server =
         {.options =
              [](ServerOptions& options) {
                options.direct_policy.grants.places = PlaceChoice::returned;
              }},
     .script_shows = false},
    {.name = "reference-writable",
     .breaks = {"ODAFS-3", "ODAFS-30"},
     .sentence = "Frames can be written by RDMA Writes.",
     .server = {.options = [](ServerOptions&
                                  options) { options.direct_policy.grants.read_only = false; }},
     .script_shows = false},
    {.name = "neighbour-octets",
     .breaks = {"ODAFS-4"},
     .sentence = "The STag of a frame covers eight octets behind it.",
     .server = {.options = [](ServerOptions&
                                  options) { options.direct_policy.grants.octets_behind = 8; }},
     .script_shows = false},
    {.name = "grant-without-permission",
     .breaks = {"ODAFS-8"},
     .sentence = "REFS gives references to users who may not read.",
     .server = {.options = [](ServerOptions&
                                  options) { options.direct_policy.grants.checks_refs = false; }},
     .script_shows = false},
    {.name = "grants-unlimited",
     .breaks = {"ODAFS-27"},
     .sentence = "A user gets more references than most_references.",
     .server = {.options = [](ServerOptions&
                                  options) { options.direct_policy.grants.keeps_limits = false; }},
     .script_shows = false},
    {.name = "loaned-memory-lost",
     .breaks = {"ODAFS-13"},
     .sentence = "The frames of users who left stay on loan.",
     .server =
         {.options =
              [](ServerOptions& options) { options.direct_policy.grants.returns_memory = false; }},
     .script_shows = false},
    {.name = "returned-memory-reused",
     .breaks = {"ODAFS-33"},
     .sentence = "A frame that was given back stays open, and takes the block of the next grant.",
     .server =
         {.options =
              [](ServerOptions& options) {
                options.direct_policy.grants.closes_returned = false;
                options.direct_policy.grants.own_frames = false;
              }},
     .script_shows = false},
    {.name = "others-starved",
     .breaks = {"ODAFS-28"},
     .sentence = "READ of direct access is refused while another user has most_references.",
     .server = {.options = [](ServerOptions&
                                  options) { options.direct_policy.grants.serves_others = false; }},
     .script_shows = false},
    {.name = "grants-unasked",
     .breaks = {"ODAFS-2"},
     .sentence = "READ with want_refs 0 grants a reference.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_direct_call<direct::ReadArgs>(
                          call, direct::Procedure::DIRECTPROC1_READ,
                          [](auto& args) { args.want_refs = std::max(args.want_refs, 1U); });
                    }},
     .script_shows = false},
    {.name = "batch-out-of-order",
     .breaks = {"ODAFS-36"},
     .sentence = "The results of BATCH are in the opposite order of its READs.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_direct_call<direct::BatchArgs>(
                          call, direct::Procedure::DIRECTPROC1_BATCH,
                          [](auto& args) { std::ranges::reverse(args.reads); });
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> direct_access_family() {
  return kDirectAccess;
}

}  // namespace steertag::deviations
