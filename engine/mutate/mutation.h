// A mutation: one change of a draft under a permanent name.
// Generators of variants, deviations and cases share the mutations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/draft.h"

namespace steertag::mutate {

/// A change without parameters.
struct Mutation {
  std::string_view name;  // permanent: "procedure.msgp"
  /// False if the draft lacks what the mutation changes. Then the draft stays as it is.
  bool (*apply)(wire::Draft& draft) = nullptr;
};

/// A change that sets one number. In a name the number follows the prefix, as in `value_text`:
/// "version.2".
struct NumberMutation {
  std::string_view prefix;  // permanent: "version."
  bool (*apply)(wire::Draft& draft, std::uint32_t number) = nullptr;
};

/// The mutations of one file. A whole name has precedence over a prefix.
struct MutationTable {
  std::span<const Mutation> whole;
  std::span<const NumberMutation> numbers;
};

/// Applies the mutation of that name from the tables of this folder: whether the draft had what it
/// changes. Nothing if there is no such mutation.
std::optional<bool> apply_from_tables(wire::Draft& draft, std::string_view name);

}  // namespace steertag::mutate
