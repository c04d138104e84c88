// The procedures of direct access: number, name, types of arguments and results.
#pragma once

#include <cstdint>
#include <span>

#include "nfs/direct/messages.h"
#include "rpc/procedure.h"

namespace steertag::direct {

/// The enumerators have a prefix, because NULL is a macro.
enum class Procedure : std::uint32_t {
  DIRECTPROC1_NULL = 0,
  DIRECTPROC1_HELLO = 1,
  DIRECTPROC1_REFS = 2,
  DIRECTPROC1_READ = 3,
  DIRECTPROC1_BATCH = 4,
  DIRECTPROC1_RETURN = 5,
  DIRECTPROC1_COUNTERS = 6,
};
/// Names without the prefix: "READ".
inline constexpr rpc::Named<Procedure> kProcedureNames[] = {
    {Procedure::DIRECTPROC1_NULL, "NULL"},         {Procedure::DIRECTPROC1_HELLO, "HELLO"},
    {Procedure::DIRECTPROC1_REFS, "REFS"},         {Procedure::DIRECTPROC1_READ, "READ"},
    {Procedure::DIRECTPROC1_BATCH, "BATCH"},       {Procedure::DIRECTPROC1_RETURN, "RETURN"},
    {Procedure::DIRECTPROC1_COUNTERS, "COUNTERS"},
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
    case Procedure::DIRECTPROC1_HELLO:
      return visit(Signature<HelloArgs, HelloResult>{});
    case Procedure::DIRECTPROC1_REFS:
      return visit(Signature<RefsArgs, RefsResult>{});
    case Procedure::DIRECTPROC1_READ:
      return visit(Signature<ReadArgs, ReadResult>{});
    case Procedure::DIRECTPROC1_BATCH:
      return visit(Signature<BatchArgs, BatchResult>{});
    case Procedure::DIRECTPROC1_RETURN:
      return visit(Signature<ReturnArgs, ReturnResult>{});
    case Procedure::DIRECTPROC1_COUNTERS:
      return visit(Signature<Void, Counters>{});
    case Procedure::DIRECTPROC1_NULL:
      break;
  }
  return visit(Signature<Void, Void>{});
}

}  // namespace steertag::direct
