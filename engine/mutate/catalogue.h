// The catalogue of generators: every group of hostile messages by name.
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

}  // namespace steertag::mutate
