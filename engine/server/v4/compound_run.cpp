// Runs the operations of one COMPOUND.
#include "server/v4/compound_run.h"

#include "endpoint/limits.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {
namespace {

// The message bounds the count: every operation takes a word.
constexpr std::size_t kUnbounded = ~std::size_t{0};

/// What a data server answers to an operation that it does not have (RFC 8881 12.6, 13.6).
nfs4::Status unsupported(nfs4::Opnum number, const PnfsPolicy& policy) {
  using nfs4::Opnum;
  const bool is_of_layouts = number == Opnum::OP_LAYOUTGET || number == Opnum::OP_LAYOUTCOMMIT ||
                             number == Opnum::OP_LAYOUTRETURN ||
                             number == Opnum::OP_GETDEVICEINFO || number == Opnum::OP_GETDEVICELIST;
  return is_of_layouts && !policy.layouts_unsupported ? nfs4::Status::NFS4ERR_LAYOUTUNAVAILABLE
                                                      : nfs4::Status::NFS4ERR_NOTSUPP;
}

}  // namespace

CompoundRun::CompoundRun(CompoundCall& call, wire::Reader arguments, std::string_view tag)
    : call_(call),
      arguments_(arguments),
      operations_(arguments_, "argarray", kUnbounded),
      reply_start_(call.reply.stream().size()),
      reply_(call.reply.stream(), tag) {
  call_.operation_count = operations_.count();
}

bool CompoundRun::is_whole() const {
  wire::Reader reader = arguments_;
  for (std::uint32_t i = 0; i < operations_.count() && i < nfs4::kMostOperations; ++i) {
    const auto number = static_cast<nfs4::Opnum>(reader.u32("argarray"));
    if (!reader.ok()) return false;
    // The operation itself says what is wrong with its arguments; behind them all is unknown.
    if (!nfs4::is_defined(number, call_.minorversion) || !nfs4::skip_arguments(reader, number))
      return true;
  }
  // RFC 5531 9: a call whose parameters end before its octets do is GARBAGE_ARGS.
  return operations_.count() > nfs4::kMostOperations || reader.remaining() == 0;
}

bool CompoundRun::run() {
  if (!arguments_.ok() || !is_whole()) return false;
  // In minor version 1 SEQUENCE refuses what is more than the session allows.
  if (call_.minorversion == 0 && operations_.count() > nfs4::kMostOperations) {
    reply_.set_status(nfs4::Status::NFS4ERR_RESOURCE);
    return true;
  }
  while (reply_.status() == nfs4::Status::NFS4_OK) {  // at most once for each operation
    call_.operation_index = operations_.taken();
    const auto number = operations_.next();
    if (!number) break;
    run_next(*number);
    note_tickets();
    if (call_.slot && call_.slot->replay) return replay(), true;
  }
  keep_reply();
  return true;
}

void CompoundRun::run_next(nfs4::Opnum number) {
  const Operation* operation =
      nfs4::is_defined(number, call_.minorversion) ? find_operation(number) : nullptr;
  if (!operation)
    return reply_.add_status(nfs4::Opnum::OP_ILLEGAL, nfs4::Status::NFS4ERR_OP_ILLEGAL);
  const nfs4::Status position = check_operation_position(*operation);
  if (position != nfs4::Status::NFS4_OK) return reply_.add_status(number, position);
  if (call_.minorversion > operation->last_minorversion)
    return reply_.add_status(number, nfs4::Status::NFS4ERR_NOTSUPP);
  if (call_.pnfs.is_data_server() && call_.minorversion > 0) operation = choose_by_role(*operation);
  if (!operation)
    return reply_.add_status(number, unsupported(number, call_.pnfs.data_servers->policy()));
  run_known(*operation);
}

const Operation* CompoundRun::choose_by_role(const Operation& plain) {
  const PnfsPolicy& policy = call_.pnfs.data_servers->policy();
  if (!policy.housekeeping_only) return &plain;
  const Operation* at_data_server = find_data_server_operation(plain.number);
  if (!policy.second_role && !call_.pnfs.has_both) return at_data_server;
  // The classes of RFC 8881 13.6: the first operation of class 2 or 3 decides.
  const bool may_change = role_ == Role::open || !policy.separates_roles;
  if (plain.number == nfs4::Opnum::OP_PUTFH && may_change)
    role_ = names_component() ? Role::data_server : Role::plain;
  if (role_ == Role::data_server)
    return at_data_server || policy.separates_roles ? at_data_server : &plain;
  if (at_data_server != &plain) role_ = Role::plain;
  return &plain;
}

bool CompoundRun::names_component() const {
  wire::Reader ahead = arguments_;
  nfs4::PutfhArgs args;
  args.decode(ahead);
  return ahead.ok() && call_.pnfs.data_servers->resolve(args.object.view());
}

nfs4::Status CompoundRun::check_operation_position(const Operation& operation) const {
  if (call_.minorversion == 0) return nfs4::Status::NFS4_OK;
  const bool first = call_.operation_index == 0;
  const bool only = call_.operation_count == 1;
  switch (operation.position) {
    case OperationPosition::first:
      return first ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_SEQUENCE_POS;
    case OperationPosition::alone:
      return only ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_NOT_ONLY_OP;
    case OperationPosition::either:
      return !first || only ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_NOT_ONLY_OP;
    case OperationPosition::in_session:
      break;
  }
  return first ? nfs4::Status::NFS4ERR_OP_NOT_IN_SESSION : nfs4::Status::NFS4_OK;
}

void CompoundRun::run_known(const Operation& operation) {
  // RFC 8881 2.10.6.4: what cannot be answered must not be done.
  if (operation.largest_result > 0) {
    const nfs4::Status status = too_big(operation.largest_result);
    if (status != nfs4::Status::NFS4_OK) return reply_.add_status(operation.number, status);
  }
  const std::size_t start = call_.reply.stream().size();
  operation.run(arguments_, call_, reply_);
  fit_last(start);
}

void CompoundRun::fit_last(std::size_t start) {
  const nfs4::Status status = too_big(0);
  if (status == nfs4::Status::NFS4_OK || reply_.status() != nfs4::Status::NFS4_OK) return;
  call_.reply.rewind(start);
  reply_.replace_last(status);
}

nfs4::Status CompoundRun::too_big(std::size_t octets) const {
  const std::size_t size = call_.reply.size() + octets + kept_for_next(call_);
  if (!call_.slot) {
    // Without a session there is no agreed limit, but a COMPOUND full of READs must not fill the
    // memory.
    return size > kLargestCall ? nfs4::Status::NFS4ERR_RESOURCE : nfs4::Status::NFS4_OK;
  }
  if (size > call_.slot->maxresponsesize) return nfs4::Status::NFS4ERR_REP_TOO_BIG;
  const bool cached = call_.slot->cachethis;
  if (cached && size > call_.slot->maxresponsesize_cached)
    return nfs4::Status::NFS4ERR_REP_TOO_BIG_TO_CACHE;
  return nfs4::Status::NFS4_OK;
}

void CompoundRun::note_tickets() {
  const Fence* fence = call_.state.fence();
  if (!fence) return;
  if (call_.current) fence->pending(call_.current->handle, call_.reply.tickets());
  if (call_.saved) fence->pending(call_.saved->handle, call_.reply.tickets());
  // What the first reply has waited for is not known any more.
  if (call_.slot && call_.slot->replay) fence->all_pending(call_.reply.tickets());
}

void CompoundRun::replay() {
  call_.reply.rewind(reply_start_);
  call_.reply.append(*call_.slot->replay);
}

void CompoundRun::keep_reply() {
  if (call_.slot) call_.state.end_sequence(*call_.slot, call_.reply.tail(reply_start_));
}

}  // namespace steertag::peer
