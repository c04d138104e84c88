// Messages with shifted fields: one is missing or written twice.
#include "mutate/field_mutation.h"

#include "mutate/truncation.h"

namespace steertag::mutate {

namespace {

/// The draft up to `keep_to`, then its octets from `resume_at` on.
wire::Draft spliced(const wire::Draft& draft, const Bytes& whole, std::size_t keep_to,
                    std::size_t resume_at) {
  wire::Draft copy = draft;
  copy.cut_to = keep_to;
  copy.append.assign(whole.begin() + static_cast<std::ptrdiff_t>(resume_at), whole.end());
  return copy;
}

}  // namespace

std::vector<Variant> shifted_fields(const wire::Draft& draft) {
  wire::Draft uncut = draft;
  uncut.cut_to.reset();
  uncut.append.clear();
  Bytes whole;
  wire::encode(uncut, whole);
  std::vector<Variant> result;
  for (const NamedField& field : named_fields(draft)) {
    const std::size_t end = field.offset + field.length;
    result.push_back(variant("without." + field.name, spliced(uncut, whole, field.offset, end),
                             Expectation::survive));
    result.push_back(variant("twice." + field.name, spliced(uncut, whole, end, field.offset),
                             Expectation::survive));
  }
  return result;
}

}  // namespace steertag::mutate
