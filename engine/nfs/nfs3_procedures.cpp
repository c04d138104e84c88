// Looking up procedures of NFS version 3.
#include "nfs/nfs3_procedures.h"

namespace steertag::nfs3 {

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

}  // namespace steertag::nfs3
