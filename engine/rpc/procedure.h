// Common parts of the procedure tables of all RPC programs.
#pragma once

#include "rpc/fields.h"

namespace steertag::rpc {

/// The argument and result types of a procedure.
template <class ArgsType, class ResultType>
struct Signature {
  using Args = ArgsType;
  using Result = ResultType;
};

/// The enumerator with that name, and with that number; nullopt for none.
template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
  for (const auto& entry : names_of(Enum{})) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}
template <class Enum>
constexpr std::optional<Enum> value_numbered(std::uint32_t number) {
  const auto value = static_cast<Enum>(number);
  if (rpc::name(value).empty()) return std::nullopt;
  return value;
}

}  // namespace steertag::rpc
