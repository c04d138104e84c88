// Dispatch of the NFS version 3 procedures, and what they share.
#include "server/nfs3/nfs3_program.h"

#include "server/nfs3/nfs3_convert.h"
#include "server/storage/permission.h"

namespace steertag::peer {

template <class Args>
rpc::AcceptStatus Nfs3Program::run(void (Nfs3Program::*handler)(const Args&, Call&), Call& call) {
  Args args;
  args.decode(call.arguments);
  // What is left over shows that a chunk and the arguments disagree (RFC 8166 4.5.2).
  if (!call.arguments.ok() || call.arguments.remaining() > 0)
    return rpc::AcceptStatus::GARBAGE_ARGS;
  (this->*handler)(args, call);
  return rpc::AcceptStatus::SUCCESS;
}

rpc::AcceptStatus Nfs3Program::call(std::uint32_t procedure, wire::Reader& arguments,
                                    const CallContext& context, ReplyPayload& reply) {
  Call call{arguments, context.caller, reply};
  const RevocationWatch watch(fence_);
  const rpc::AcceptStatus status = run_procedure(procedure, call);
  watch.note(reply.tickets());
  return status;
}

rpc::AcceptStatus Nfs3Program::run_procedure(std::uint32_t procedure, Call& call) {
  using nfs3::Procedure;
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::NFSPROC3_NULL:
      return rpc::AcceptStatus::SUCCESS;  // any arguments are void
    case Procedure::NFSPROC3_GETATTR:
      return run(&Nfs3Program::getattr, call);
    case Procedure::NFSPROC3_SETATTR:
      return run(&Nfs3Program::setattr, call);
    case Procedure::NFSPROC3_LOOKUP:
      return run(&Nfs3Program::lookup, call);
    case Procedure::NFSPROC3_ACCESS:
      return run(&Nfs3Program::access, call);
    case Procedure::NFSPROC3_READLINK:
      return run(&Nfs3Program::readlink, call);
    case Procedure::NFSPROC3_READ:
      return run(&Nfs3Program::read, call);
    case Procedure::NFSPROC3_WRITE:
      return run(&Nfs3Program::write, call);
    case Procedure::NFSPROC3_CREATE:
      return run(&Nfs3Program::create, call);
    case Procedure::NFSPROC3_MKDIR:
      return run(&Nfs3Program::mkdir, call);
    case Procedure::NFSPROC3_SYMLINK:
      return run(&Nfs3Program::symlink, call);
    case Procedure::NFSPROC3_MKNOD:
      return run(&Nfs3Program::mknod, call);
    case Procedure::NFSPROC3_REMOVE:
      return run(&Nfs3Program::remove, call);
    case Procedure::NFSPROC3_RMDIR:
      return run(&Nfs3Program::rmdir, call);
    case Procedure::NFSPROC3_RENAME:
      return run(&Nfs3Program::rename, call);
    case Procedure::NFSPROC3_LINK:
      return run(&Nfs3Program::link, call);
    case Procedure::NFSPROC3_READDIR:
      return run(&Nfs3Program::readdir, call);
    case Procedure::NFSPROC3_READDIRPLUS:
      return run(&Nfs3Program::readdirplus, call);
    case Procedure::NFSPROC3_FSSTAT:
      return run(&Nfs3Program::fsstat, call);
    case Procedure::NFSPROC3_FSINFO:
      return run(&Nfs3Program::fsinfo, call);
    case Procedure::NFSPROC3_PATHCONF:
      return run(&Nfs3Program::pathconf, call);
    case Procedure::NFSPROC3_COMMIT:
      return run(&Nfs3Program::commit, call);
  }
  return rpc::AcceptStatus::PROC_UNAVAIL;
}

bool Nfs3Program::is_idempotent(std::uint32_t procedure, wire::Reader /*arguments*/) const {
  using nfs3::Procedure;
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::NFSPROC3_SETATTR:  // with a guard, or a size that was written beyond meanwhile
    case Procedure::NFSPROC3_CREATE:
    case Procedure::NFSPROC3_MKDIR:
    case Procedure::NFSPROC3_SYMLINK:
    case Procedure::NFSPROC3_MKNOD:
    case Procedure::NFSPROC3_REMOVE:
    case Procedure::NFSPROC3_RMDIR:
    case Procedure::NFSPROC3_RENAME:
    case Procedure::NFSPROC3_LINK:
      return false;
    default:
      return true;
  }
}

Result<Nfs3Program::Object> Nfs3Program::object(const nfs3::FileHandle& handle) const {
  const auto node = backend_.resolve(handle.view());
  if (!node) return tl::unexpected(node.error());
  const auto attributes = backend_.attributes(*node);
  if (!attributes) return tl::unexpected(attributes.error());
  return Object{*node, *attributes};
}

Result<Nfs3Program::Object> Nfs3Program::writable_directory(const nfs3::FileHandle& handle,
                                                            const Caller& caller) const {
  const auto found = object(handle);
  if (!found) return found;
  if (found->attributes.type != FileType::directory) return tl::unexpected(Status::not_directory);
  if (backend_.read_only(found->node)) return tl::unexpected(Status::read_only);
  if (!permits(found->attributes, caller, AccessMode::write) ||
      !permits(found->attributes, caller, AccessMode::execute))
    return tl::unexpected(Status::access);
  return found;
}

Status Nfs3Program::may_change(const Object& object) const {
  // Do not recall a delegation for a file that is not going to change.
  if (backend_.read_only(object.node)) return Status::read_only;
  const bool wait = must_wait_ && object.attributes.type == FileType::regular &&
                    must_wait_(backend_.handle(object.node));
  return wait ? Status::jukebox : Status::ok;
}

nfs3::PostOpAttr Nfs3Program::after(NodeId node) const {
  const auto attributes = backend_.attributes(node);
  if (!attributes) return std::nullopt;
  return to_nfs3(*attributes);
}

nfs3::WccData Nfs3Program::wcc(const Result<Object>& before) const {
  if (!before) return {};
  return {to_wcc(before->attributes), after(before->node)};
}

nfs3::FileHandle Nfs3Program::handle(NodeId node) const {
  const Handle handle = backend_.handle(node);
  return nfs3::FileHandle(View(handle));
}

nfs3::Verifier Nfs3Program::verifier() const {
  nfs3::Verifier verifier;
  wire::store_u64(verifier.data(), backend_.write_verifier());
  return verifier;
}

}  // namespace steertag::peer
