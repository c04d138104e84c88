// The catalogue: every group of hostile messages, and every mutation, by name.
#pragma once

#include <span>

#include "mutate/variant.h"

namespace steertag::mutate {

/// A generator and its name: "truncation", "presence", "count", ...
struct Group {
  std::string_view name;
  std::vector<Variant> (*generate)(const wire::Draft& draft);
};

/// All groups in a fixed order. `floods` is not included, because it needs the inline threshold.
std::span<const Group> groups();

/// The variants of one group, or nothing for an unknown name.
std::vector<Variant> generate(std::string_view group, const wire::Draft& draft);

/// The variants of all groups; their names are unique.
std::vector<Variant> generate_all(const wire::Draft& draft);

/// Applies the mutation of that name, or makes the draft the variant of that name. False if there
/// is none, or if the draft lacks what it changes. Then the draft stays as it is.
bool apply_mutation(wire::Draft& draft, std::string_view name);

/// The same for a whole message.
bool apply_mutation(Bytes& message, std::string_view name);

}  // namespace steertag::mutate
