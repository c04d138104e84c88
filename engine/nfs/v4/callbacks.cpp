// Looking up operations of CB_COMPOUND.
#include "nfs/v4/callbacks.h"

namespace steertag::nfs4 {

std::optional<CbOpnum> callback_named(std::string_view name) {
  for (const auto& entry : kCbOpnumNames) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

std::optional<CbOpnum> callback_numbered(std::uint32_t number) {
  const auto operation = static_cast<CbOpnum>(number);
  if (rpc::name(operation).empty()) return std::nullopt;
  return operation;
}

bool is_defined(CbOpnum operation, std::uint32_t minorversion) {
  if (rpc::name(operation).empty()) return false;
  return minorversion > 0 || operation <= CbOpnum::OP_CB_RECALL ||
         operation == CbOpnum::OP_CB_ILLEGAL;
}

}  // namespace steertag::nfs4
