// Messages that end too early.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// The message cut before and in the middle of every field of its transport header, and of its
/// payload stream: "cut-before.rdma_credit", "cut-inside.write-list-offset". The second field of
/// the same name is "....2", and so on.
std::vector<Variant> truncations(const wire::Draft& draft);

/// The message cut at every octet of its transport header: "cut-at.0" to "cut-at.27".
std::vector<Variant> truncations_everywhere(const wire::Draft& draft);

/// A field of a transport header with the name that variants use: words joined by '-', and ".2",
/// ".3" behind repeated ones.
struct NamedField {
  std::string name;
  std::size_t offset = 0;
  std::size_t length = 0;
};
std::vector<NamedField> named_fields(const wire::Draft& draft);

}  // namespace steertag::mutate
