// The catalogue of generators and mutations.
#include "mutate/catalogue.h"

#include <algorithm>
#include <iterator>

#include "mutate/field_mutation.h"
#include "mutate/fixed_words_mutation.h"
#include "mutate/list_mutation.h"
#include "mutate/mutation.h"
#include "mutate/segment_mutation.h"
#include "mutate/truncation.h"

namespace steertag::mutate {

namespace {

constexpr Group kGroups[] = {
    {"truncation", truncations},
    {"truncation-everywhere", truncations_everywhere},
    {"field", shifted_fields},
    {"version", versions},
    {"procedure", procedures},
    {"credit", credits},
    {"xid", xids},
    {"presence", presence_words},
    {"count", counts},
    {"missing-body", missing_bodies},
    {"order", orders},
    {"position", positions},
    {"segment", segments},
};

}  // namespace

std::span<const Group> groups() {
  return kGroups;
}

std::vector<Variant> generate(std::string_view group, const wire::Draft& draft) {
  for (const Group& each : kGroups) {
    if (each.name == group) return each.generate(draft);
  }
  return {};
}

std::vector<Variant> generate_all(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (const Group& each : kGroups) {
    std::vector<Variant> variants = each.generate(draft);
    result.insert(result.end(), std::move_iterator(variants.begin()),
                  std::move_iterator(variants.end()));
  }
  return result;
}

bool apply_mutation(wire::Draft& draft, std::string_view name) {
  if (const auto applied = apply_from_tables(draft, name)) return *applied;
  std::vector<Variant> variants = generate_all(draft);
  const auto found = std::ranges::find(variants, name, &Variant::name);
  if (found == variants.end()) return false;
  draft = std::move(found->draft);
  return true;
}

bool apply_mutation(Bytes& message, std::string_view name) {
  wire::Draft draft = wire::draft_of(message);
  if (!apply_mutation(draft, name)) return false;
  message.clear();
  wire::encode(draft, message);
  return true;
}

}  // namespace steertag::mutate
