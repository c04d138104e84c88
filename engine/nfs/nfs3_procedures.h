// The 22 procedures of NFS version 3 (RFC 1813 3.3): number, name, types of arguments and results.
#pragma once

#include <cstdint>
#include <span>

#include "nfs/nfs3_args.h"
#include "nfs/nfs3_results.h"
#include "rpc/procedure.h"

namespace steertag::nfs3 {

/// The enumerators carry the RFC's prefix, because NULL is a macro.
enum class Procedure : std::uint32_t {
  NFSPROC3_NULL = 0,
  NFSPROC3_GETATTR = 1,
  NFSPROC3_SETATTR = 2,
  NFSPROC3_LOOKUP = 3,
  NFSPROC3_ACCESS = 4,
  NFSPROC3_READLINK = 5,
  NFSPROC3_READ = 6,
  NFSPROC3_WRITE = 7,
  NFSPROC3_CREATE = 8,
  NFSPROC3_MKDIR = 9,
  NFSPROC3_SYMLINK = 10,
  NFSPROC3_MKNOD = 11,
  NFSPROC3_REMOVE = 12,
  NFSPROC3_RMDIR = 13,
  NFSPROC3_RENAME = 14,
  NFSPROC3_LINK = 15,
  NFSPROC3_READDIR = 16,
  NFSPROC3_READDIRPLUS = 17,
  NFSPROC3_FSSTAT = 18,
  NFSPROC3_FSINFO = 19,
  NFSPROC3_PATHCONF = 20,
  NFSPROC3_COMMIT = 21,
};
/// Names without the prefix: "READ".
inline constexpr rpc::Named<Procedure> kProcedureNames[] = {
    {Procedure::NFSPROC3_NULL, "NULL"},         {Procedure::NFSPROC3_GETATTR, "GETATTR"},
    {Procedure::NFSPROC3_SETATTR, "SETATTR"},   {Procedure::NFSPROC3_LOOKUP, "LOOKUP"},
    {Procedure::NFSPROC3_ACCESS, "ACCESS"},     {Procedure::NFSPROC3_READLINK, "READLINK"},
    {Procedure::NFSPROC3_READ, "READ"},         {Procedure::NFSPROC3_WRITE, "WRITE"},
    {Procedure::NFSPROC3_CREATE, "CREATE"},     {Procedure::NFSPROC3_MKDIR, "MKDIR"},
    {Procedure::NFSPROC3_SYMLINK, "SYMLINK"},   {Procedure::NFSPROC3_MKNOD, "MKNOD"},
    {Procedure::NFSPROC3_REMOVE, "REMOVE"},     {Procedure::NFSPROC3_RMDIR, "RMDIR"},
    {Procedure::NFSPROC3_RENAME, "RENAME"},     {Procedure::NFSPROC3_LINK, "LINK"},
    {Procedure::NFSPROC3_READDIR, "READDIR"},   {Procedure::NFSPROC3_READDIRPLUS, "READDIRPLUS"},
    {Procedure::NFSPROC3_FSSTAT, "FSSTAT"},     {Procedure::NFSPROC3_FSINFO, "FSINFO"},
    {Procedure::NFSPROC3_PATHCONF, "PATHCONF"}, {Procedure::NFSPROC3_COMMIT, "COMMIT"},
};
constexpr std::span<const rpc::Named<Procedure>> names_of(Procedure) {
  return kProcedureNames;
}

using rpc::Signature;

/// Calls `visit(Signature<Args, Result>{})` with the types of `procedure`, which must be one of the
/// enumerators, and returns what it returns.
template <class Visit>
constexpr decltype(auto) with_signature(Procedure procedure, Visit&& visit) {
  switch (procedure) {
    case Procedure::NFSPROC3_GETATTR:
      return visit(Signature<GetattrArgs, GetattrResult>{});
    case Procedure::NFSPROC3_SETATTR:
      return visit(Signature<SetattrArgs, SetattrResult>{});
    case Procedure::NFSPROC3_LOOKUP:
      return visit(Signature<LookupArgs, LookupResult>{});
    case Procedure::NFSPROC3_ACCESS:
      return visit(Signature<AccessArgs, AccessResult>{});
    case Procedure::NFSPROC3_READLINK:
      return visit(Signature<ReadlinkArgs, ReadlinkResult>{});
    case Procedure::NFSPROC3_READ:
      return visit(Signature<ReadArgs, ReadResult>{});
    case Procedure::NFSPROC3_WRITE:
      return visit(Signature<WriteArgs, WriteResult>{});
    case Procedure::NFSPROC3_CREATE:
      return visit(Signature<CreateArgs, CreateResult>{});
    case Procedure::NFSPROC3_MKDIR:
      return visit(Signature<MkdirArgs, MkdirResult>{});
    case Procedure::NFSPROC3_SYMLINK:
      return visit(Signature<SymlinkArgs, SymlinkResult>{});
    case Procedure::NFSPROC3_MKNOD:
      return visit(Signature<MknodArgs, MknodResult>{});
    case Procedure::NFSPROC3_REMOVE:
      return visit(Signature<RemoveArgs, RemoveResult>{});
    case Procedure::NFSPROC3_RMDIR:
      return visit(Signature<RmdirArgs, RmdirResult>{});
    case Procedure::NFSPROC3_RENAME:
      return visit(Signature<RenameArgs, RenameResult>{});
    case Procedure::NFSPROC3_LINK:
      return visit(Signature<LinkArgs, LinkResult>{});
    case Procedure::NFSPROC3_READDIR:
      return visit(Signature<ReaddirArgs, ReaddirResult>{});
    case Procedure::NFSPROC3_READDIRPLUS:
      return visit(Signature<ReaddirplusArgs, ReaddirplusResult>{});
    case Procedure::NFSPROC3_FSSTAT:
      return visit(Signature<FsstatArgs, FsstatResult>{});
    case Procedure::NFSPROC3_FSINFO:
      return visit(Signature<FsinfoArgs, FsinfoResult>{});
    case Procedure::NFSPROC3_PATHCONF:
      return visit(Signature<PathconfArgs, PathconfResult>{});
    case Procedure::NFSPROC3_COMMIT:
      return visit(Signature<CommitArgs, CommitResult>{});
    case Procedure::NFSPROC3_NULL:
      break;
  }
  return visit(Signature<Void, Void>{});
}

}  // namespace steertag::nfs3
