// The procedures of NFS version 4.
#include "server/v4/nfs4_program.h"

#include "nfs/v4/compound.h"
#include "server/nfs3/mount3_program.h"
#include "server/v4/compound_run.h"
#include "server/v4/utf8.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kLastMinorVersion = 1;

/// Whether the operation finds another state of things when it is repeated.
bool changes_names(nfs4::Opnum number) {
  using nfs4::Opnum;
  return number == Opnum::OP_CREATE || number == Opnum::OP_LINK || number == Opnum::OP_REMOVE ||
         number == Opnum::OP_RENAME || number == Opnum::OP_SETATTR;
}

// The pseudo file system has one directory, so the path must have one component.
static_assert(kExportPath.front() == '/' && kExportPath.find('/', 1) == std::string_view::npos);

}  // namespace

Nfs4Program::Nfs4Program(Backend& storage, const Nfs4StateOptions& options, PnfsRole pnfs)
    : storage_(storage, kExportPath.substr(1)), state_(options), pnfs_(std::move(pnfs)) {}

void Nfs4Program::be_data_server(std::uint32_t index, std::shared_ptr<LayoutAuthority> authority) {
  pnfs_.index = index;
  pnfs_.authority = std::move(authority);
  pnfs_.has_both = true;
}

void Nfs4Program::tend() {
  if (pnfs_.authority) state_.lengthen_lease(pnfs_.authority->lease());
  state_.expire();
}

rpc::AcceptStatus Nfs4Program::call(std::uint32_t procedure, wire::Reader& arguments,
                                    const CallContext& context, ReplyPayload& reply) {
  switch (procedure) {
    case nfs4::NFSPROC4_NULL:
      return rpc::AcceptStatus::SUCCESS;  // any arguments are void
    case nfs4::NFSPROC4_COMPOUND:
      return compound(arguments, context, reply);
    default:
      return rpc::AcceptStatus::PROC_UNAVAIL;
  }
}

bool Nfs4Program::is_idempotent(std::uint32_t procedure, wire::Reader arguments) const {
  if (procedure != nfs4::NFSPROC4_COMPOUND) return true;
  nfs4::CompoundArgs args;
  args.decode(arguments);
  if (!arguments.ok() || args.minorversion != 0) return true;
  const std::uint32_t count = arguments.u32("argarray");
  for (std::uint32_t i = 0; i < count && i < nfs4::kMostOperations; ++i) {
    const auto number = static_cast<nfs4::Opnum>(arguments.u32("argarray"));
    if (!arguments.ok() || !nfs4::is_defined(number, 0)) return true;  // nothing behind it runs
    if (changes_names(number)) return false;
    if (!nfs4::skip_arguments(arguments, number)) return true;
  }
  return true;
}

rpc::AcceptStatus Nfs4Program::compound(wire::Reader& arguments, const CallContext& context,
                                        ReplyPayload& reply) {
  tend();  // so that no operation finds what belongs to a client whose lease is over
  nfs4::CompoundArgs args;
  args.decode(arguments);
  if (!arguments.ok()) return rpc::AcceptStatus::GARBAGE_ARGS;
  const bool is_only_data_server = pnfs_.is_data_server() && !pnfs_.has_both;
  if (args.minorversion > kLastMinorVersion || (args.minorversion == 0 && is_only_data_server)) {
    // RFC 8881 16.2.3: before anything else, and without results.
    CompoundReplyWriter(reply.stream(), args.tag)
        .set_status(nfs4::Status::NFS4ERR_MINOR_VERS_MISMATCH);
    return rpc::AcceptStatus::SUCCESS;
  }
  if (!is_utf8(args.tag)) {
    // RFC 7530 12.7; RFC 8881 16.2.4, among the errors of no operation at all.
    CompoundReplyWriter(reply.stream(), args.tag).set_status(nfs4::Status::NFS4ERR_INVAL);
    return rpc::AcceptStatus::SUCCESS;
  }
  CompoundCall call{.context = context,
                    .storage = storage_,
                    .state = state_,
                    .reply = reply,
                    .minorversion = args.minorversion,
                    .request_bytes = arguments.offset() + arguments.remaining(),
                    .pnfs = pnfs_};
  const RevocationWatch watch(state_.fence());
  CompoundRun run(call, arguments, args.tag);
  if (!run.run()) return rpc::AcceptStatus::GARBAGE_ARGS;
  watch.note(reply.tickets());
  return rpc::AcceptStatus::SUCCESS;
}

Tickets Nfs4Program::pending() const {
  Tickets tickets;
  if (const Fence* fence = state_.fence()) fence->all_pending(tickets);
  return tickets;
}

}  // namespace steertag::peer
