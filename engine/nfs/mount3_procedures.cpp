// Looking up procedures of MOUNT version 3.
#include "nfs/mount3_procedures.h"

namespace steertag::mount3 {

std::optional<Procedure> procedure_named(std::string_view name) {
  for (const auto& entry : kProcedureNames) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

std::optional<Procedure> procedure_numbered(std::uint32_t number) {
  const auto procedure = static_cast<Procedure>(number);
  if (rpc::name(procedure).empty()) return std::nullopt;
  return procedure;
}

}  // namespace steertag::mount3
