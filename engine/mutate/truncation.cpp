// Truncated messages.
#include "mutate/truncation.h"

#include <algorithm>
#include <map>

namespace steertag::mutate {

namespace {

Variant cut(std::string name, const wire::Draft& draft, std::size_t size) {
  wire::Draft copy = draft;
  copy.cut_to = size;
  copy.append.clear();
  // The RPC layer refuses a whole header with a truncated message.
  return variant(std::move(name), std::move(copy), Expectation::survive);
}

std::size_t header_size(const std::vector<NamedField>& fields) {
  return fields.empty() ? 0 : fields.back().offset + fields.back().length;
}

}  // namespace

std::vector<NamedField> named_fields(const wire::Draft& draft) {
  std::vector<NamedField> result;
  std::map<std::string_view, std::size_t> seen;
  for (const wire::FieldSpan& field : wire::fields(draft)) {
    std::string name(field.name);
    std::replace(name.begin(), name.end(), ' ', '-');
    const std::size_t occurrence = ++seen[field.name];
    if (occurrence > 1) name += '.' + std::to_string(occurrence);
    result.push_back({std::move(name), field.offset, field.length});
  }
  return result;
}

std::vector<Variant> truncations(const wire::Draft& draft) {
  std::vector<Variant> result;
  const std::vector<NamedField> fields = named_fields(draft);
  for (const NamedField& field : fields) {
    result.push_back(cut("cut-before." + field.name, draft, field.offset));
    result.push_back(cut("cut-inside." + field.name, draft, field.offset + field.length / 2));
  }
  if (!draft.payload.empty()) {
    const std::size_t header = header_size(fields);
    result.push_back(cut("cut-before.payload-stream", draft, header));
    result.push_back(cut("cut-inside.payload-stream", draft, header + draft.payload.size() / 2));
  }
  return result;
}

std::vector<Variant> truncations_everywhere(const wire::Draft& draft) {
  std::vector<Variant> result;
  const std::size_t header = header_size(named_fields(draft));
  for (std::size_t size = 0; size < header; ++size) {
    result.push_back(cut("cut-at." + std::to_string(size), draft, size));
  }
  return result;
}

}  // namespace steertag::mutate
