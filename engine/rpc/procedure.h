// What the tables of procedures of all RPC programs share.
#pragma once

#include "rpc/fields.h"

namespace steertag::rpc {

/// What a procedure takes and gives.
template <class ArgsType, class ResultType>
struct Signature {
  using Args = ArgsType;
  using Result = ResultType;
};

/// The enumerator of that name, and of that number; nullopt when there is none.
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
