// Looking up attributes.
#include "nfs/v4/attribute_table.h"

#include <array>

namespace steertag::nfs4 {

namespace {

constexpr auto kRows = kAttributes.apply([](const auto&... attribute) {
  return std::array{AttributeRow{attribute.number, attribute.name, attribute.use}...};
});

constexpr bool numbered_from_zero() {
  for (std::uint32_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].number != i) return false;
  }
  return true;
}
static_assert(kRows.size() == kKnownAttributes && numbered_from_zero(),
              "attribute_name() takes the number as an index");

}  // namespace

std::span<const AttributeRow> attribute_rows() {
  return kRows;
}

std::string_view attribute_name(std::uint32_t number) {
  return number < kRows.size() ? kRows[number].name : std::string_view{};
}

Bitmap attributes_with(std::uint32_t uses, std::uint32_t minorversion) {
  const std::uint32_t end = minorversion == 0 ? kKnownAttributesMinor0 : kKnownAttributes;
  Bitmap made;
  for (const AttributeRow& row : std::span{kRows}.first(end)) {
    if ((row.use & uses) == uses) made.set(row.number);
  }
  return made;
}

}  // namespace steertag::nfs4
