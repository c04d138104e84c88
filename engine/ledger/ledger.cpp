// Lookup in the generated table.
#include "ledger/ledger.h"

#include <algorithm>

#include "ledger/table.h"

namespace steertag::ledger {

std::span<const Requirement> requirements() {
  return kRequirements;
}

std::span<const Document> documents() {
  return kDocuments;
}

const Requirement* find(std::string_view id) {
  const auto found = std::lower_bound(kIds.begin(), kIds.end(), id);
  if (found == kIds.end() || *found != id) return nullptr;
  return &kRequirements[static_cast<std::size_t>(found - kIds.begin())];
}

const Unbroken* unbroken(std::string_view id) {
  const auto found = std::ranges::lower_bound(kUnbroken, id, {}, &Unbroken::id);
  return found != kUnbroken.end() && found->id == id ? &*found : nullptr;
}

std::string_view name(Level level) {
  switch (level) {
    case Level::must:
      return "MUST";
    case Level::must_not:
      return "MUST NOT";
    case Level::should:
      return "SHOULD";
    case Level::should_not:
      return "SHOULD NOT";
    case Level::may:
      return "MAY";
    case Level::required:
      return "REQUIRED";
    case Level::optional:
      return "OPTIONAL";
    case Level::not_recommended:
      return "NOT RECOMMENDED";
    case Level::def:
      return "DEF";
  }
  return "unknown level";
}

}  // namespace steertag::ledger
