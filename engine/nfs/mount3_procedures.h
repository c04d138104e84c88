// The procedures of MOUNT version 3 (RFC 1813 5.2): number, name, types of arguments and results.
#pragma once

#include <cstdint>
#include <span>

#include "nfs/mount3.h"
#include "rpc/procedure.h"

namespace steertag::mount3 {

/// The enumerators carry the RFC's prefix, because NULL is a macro.
enum class Procedure : std::uint32_t {
  MOUNTPROC3_NULL = 0,
  MOUNTPROC3_MNT = 1,
  MOUNTPROC3_DUMP = 2,
  MOUNTPROC3_UMNT = 3,
  MOUNTPROC3_UMNTALL = 4,
  MOUNTPROC3_EXPORT = 5,
};
/// Names without the prefix: "READ".
inline constexpr rpc::Named<Procedure> kProcedureNames[] = {
    {Procedure::MOUNTPROC3_NULL, "NULL"},       {Procedure::MOUNTPROC3_MNT, "MNT"},
    {Procedure::MOUNTPROC3_DUMP, "DUMP"},       {Procedure::MOUNTPROC3_UMNT, "UMNT"},
    {Procedure::MOUNTPROC3_UMNTALL, "UMNTALL"}, {Procedure::MOUNTPROC3_EXPORT, "EXPORT"},
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
    case Procedure::MOUNTPROC3_MNT:
      return visit(Signature<DirPath, MntResult>{});
    case Procedure::MOUNTPROC3_DUMP:
      return visit(Signature<Void, MountList>{});
    case Procedure::MOUNTPROC3_UMNT:
      return visit(Signature<DirPath, Void>{});
    case Procedure::MOUNTPROC3_UMNTALL:
      return visit(Signature<Void, Void>{});
    case Procedure::MOUNTPROC3_EXPORT:
      return visit(Signature<Void, ExportList>{});
    case Procedure::MOUNTPROC3_NULL:
      break;
  }
  return visit(Signature<Void, Void>{});
}

}  // namespace steertag::mount3
