// Deviations of the client: which data server it asks, for what, and how.
// RFC 8881 13.
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/v4/attribute_numbers.h"
#include "nfs/v4/client_ops.h"
#include "nfs/v4/io_ops.h"
#include "nfs/v4/layout_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using peer::RequestStep;

constexpr std::byte kOtherOwner[] = {std::byte{'x'}};

void ask_for_no_role(RequestStep& step) {
  change_request<nfs4::ExchangeIdArgs>(step, Opnum::OP_EXCHANGE_ID,
                                       [](auto& args) { args.eia_flags = 0; });
}

void change_owner(RequestStep& step) {
  change_request<nfs4::ExchangeIdArgs>(step, Opnum::OP_EXCHANGE_ID, [](auto& args) {
    args.eia_clientowner.co_ownerid = kOtherOwner;
  });
}

/// Behind each READ.
template <class Args>
void append_to_read(RequestStep& step, Opnum number, const Args& args) {
  if (step.again || !find_arguments(step.request.stream, Opnum::OP_READ)) return;
  append_operation(step, number);
  wire::Writer writer(step.request.stream);
  args.encode(writer);
}

void ask_for_attributes(RequestStep& step) {
  append_to_read(step, Opnum::OP_GETATTR, nfs4::GetattrArgs{nfs4::Bitmap::of({nfs4::FATTR4_SIZE})});
}

void complete_reclaims(RequestStep& step) {
  append_to_read(step, Opnum::OP_RECLAIM_COMPLETE, nfs4::ReclaimCompleteArgs{});
}

void read_by_seqid(RequestStep& step) {
  change_request<nfs4::ReadArgs>(step, Opnum::OP_READ, [](auto& args) { args.stateid.seqid = 1; });
}

void read_anonymously(RequestStep& step) {
  change_request<nfs4::ReadArgs>(step, Opnum::OP_READ, [](auto& args) { args.stateid = {}; });
}

constexpr Deviation kDataServerCalls[] = {
    {.name = "lost-data-server-fails-file",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.7.6-1"},
     .sentence = "A data server that does not answer is an error of the user.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.survives_loss = false;
                    }}},
    {.name = "refusal-fails-file",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.11-2"},
     .sentence = "What a data server refuses is an error of the user.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.turns_back = false;
                    }}},
    {.name = "netid-unchecked",
     .side = trace::Role::client,
     .breaks = {"RFC8881-3.3.9-1"},
     .sentence = "An address of any netid is connected to.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.checks_netids = false;
                    }}},
    {.name = "address-port-swapped",
     .side = trace::Role::client,
     .breaks = {"RFC5665-5.2.3.3-1"},
     .sentence = "The two numbers of a port are taken in the other order.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.reads_ports = false;
                    }}},
    {.name = "address-ipv6-unread",
     .side = trace::Role::client,
     .breaks = {"RFC5665-5.2.3.4-1"},
     .sentence = "An address with netid rdma6 or tcp6 is of no use.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.reads_ipv6 = false;
                    }}},
    {.name = "data-server-role-unasked",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.1-1"},
     .sentence = "EXCHANGE_ID at a data server asks for no role.",
     .client = {.data_request = ask_for_no_role}},
    {.name = "data-server-owner-other",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.1-4"},
     .sentence = "The client has another co_ownerid at data servers.",
     .client = {.data_request = change_owner}},
    {.name = "data-server-slots-beyond-granted",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-6"},
     .sentence = "At data servers as many slots are used as were asked for.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.heeds_slots = false;
                    }}},
    {.name = "data-server-session-kept",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.13.1.4-3"},
     .sentence = "A session that a data server has lost is used further.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.renews_sessions = false;
                    }}},
    {.name = "data-server-role-unchecked",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.1-1"},
     .sentence = "I/O goes to a server that is no data server.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.checks_role = false;
                    }}},
    {.name = "first-handle-everywhere",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.3-7"},
     .sentence = "Every data server is asked by the first filehandle.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_handles = false;
                    }}},
    {.name = "layout-end-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.1-1"},
     .sentence = "The range of a layout goes to the end of its last stripe unit.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_end = false;
                    }}},
    {.name = "pattern-offset-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.4.1-1"},
     .sentence = "Stripe units are counted from the start of the file.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_pattern_offset = false;
                    }}},
    {.name = "dense-as-sparse",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.4.4-1"},
     .sentence = "With dense packing the offset at a data server is that of the file.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.heeds_packing = false;
                    }}},
    {.name = "first-address-only",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.5-1"},
     .sentence = "Of the addresses of a data server only the first is used.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.tries_all_addresses = false;
                    }}},
    {.name = "dead-device-kept",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.5-2"},
     .sentence = "A device whose addresses are dead is not asked for again.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.forgets_dead_devices = false;
                    }}},
    {.name = "getattr-at-data-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.6-6", "RFC8881-13.6-1"},
     .sentence = "A data server is asked for attributes.",
     .client = {.data_request = ask_for_attributes}},
    {.name = "reclaim-complete-at-data-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.6-3"},
     .sentence = "A data server gets RECLAIM_COMPLETE.",
     .client = {.data_request = complete_reclaims}},
    {.name = "commit-at-wrong-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.7-1", "RFC8881-13.7-2"},
     .sentence = "COMMIT goes to the metadata server where it should go to data servers, and the "
                 "other way round.",
     .client =
         {.options =
              [](peer::FileClientOptions& options) {
                options.session.layouts.heeds_commit_place = false;
              }}},
    {.name = "commit-verifier-uncompared",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.7-1", "RFC8881-13.7-2"},
     .sentence = "A COMMIT is good whatever its verifier.",
     .client =
         {.options =
              [](peer::FileClientOptions& options) {
                options.session.data_servers.compares_verifiers = false;
              }}},
    {.name = "lost-data-unstable",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.7.6-1"},
     .sentence = "Data of a lost data server is written to the metadata server with UNSTABLE4.",
     .client =
         {.options =
              [](peer::FileClientOptions& options) {
                options.session.data_servers.stable_elsewhere = false;
              }}},
    {.name = "layout-stateid-at-data-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.9.1-1", "RFC8881-13.9.1-2"},
     .sentence = "READ and WRITE at data servers carry the layout stateid.",
     .client =
         {.options =
              [](peer::FileClientOptions& options) {
                options.session.data_servers.by_open_stateid = false;
              }}},
    {.name = "seqid-at-data-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.9.1-2"},
     .sentence = "READ at a data server has a stateid with a seqid.",
     .client = {.data_request = read_by_seqid}},
    {.name = "special-stateid-at-data-server",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.9.1-2"},
     .sentence = "READ at a data server has the anonymous stateid.",
     .client = {.data_request = read_anonymously}},
    {.name = "lease-doubt-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.7.2-1"},
     .sentence = "READs and WRITEs go to data servers when the lease may be over.",
     .client = {.options = [](peer::FileClientOptions&
                                  options) { options.session.data_servers.heeds_lease = false; }}},
    {.name = "hole-ends-file",
     .side = trace::Role::client,
     .breaks = {"RFC8881-13.10-1"},
     .sentence = "A READ that ends early at a data server is the end of the file.",
     .client = {.options = [](peer::FileClientOptions&
                                  options) { options.session.data_servers.fills_holes = false; }}},
};

}  // namespace

std::span<const Deviation> data_server_calls_family() {
  return kDataServerCalls;
}

}  // namespace steertag::deviations
