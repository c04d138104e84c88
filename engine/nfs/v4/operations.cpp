// Looking up operations of COMPOUND.
#include "nfs/v4/operations.h"

namespace steertag::nfs4 {

std::optional<Opnum> operation_named(std::string_view name) {
  for (const auto& entry : kOpnumNames) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

std::optional<Opnum> operation_numbered(std::uint32_t number) {
  const auto operation = static_cast<Opnum>(number);
  if (rpc::name(operation).empty()) return std::nullopt;
  return operation;
}

bool is_defined(Opnum operation, std::uint32_t minorversion) {
  if (rpc::name(operation).empty()) return false;
  return minorversion > 0 || operation <= Opnum::OP_RELEASE_LOCKOWNER ||
         operation == Opnum::OP_ILLEGAL;
}

}  // namespace steertag::nfs4
