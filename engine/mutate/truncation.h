// Truncated messages.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// The message truncated before and inside every field of its transport header, and of its payload
/// stream: "cut-before.rdma_credit", "cut-inside.write-list-offset". The second field of the same
/// name has ".2", and so on.
std::vector<Variant> truncations(const wire::Draft& draft);

/// The message truncated at every octet of its transport header: "cut-at.0" to "cut-at.27".
std::vector<Variant> truncations_everywhere(const wire::Draft& draft);

/// A field of a transport header with its name in variants: words joined by '-', with ".2", ".3"
/// for repeated ones.
struct NamedField {
  std::string name;
  std::size_t offset = 0;
  std::size_t length = 0;
};
std::vector<NamedField> named_fields(const wire::Draft& draft);

}  // namespace steertag::mutate
