// Finds mutations by name.
#include "mutate/mutation.h"

#include <charconv>

#include "mutate/error_mutation.h"
#include "mutate/fixed_words_mutation.h"
#include "mutate/payload_mutation.h"
#include "mutate/returned_list_mutation.h"
#include "mutate/variant.h"

namespace steertag::mutate {

namespace {

/// The number of a text that `value_text` has written.
std::optional<std::uint32_t> number_in(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value_text(number) == text ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<bool> apply_from_tables(wire::Draft& draft, std::string_view name) {
  const MutationTable tables[] = {fixed_word_mutations(), error_mutations(), payload_mutations(),
                                  returned_list_mutations()};
  for (const MutationTable& table : tables) {
    for (const Mutation& each : table.whole) {
      if (each.name == name) return each.apply(draft);
    }
  }
  for (const MutationTable& table : tables) {
    for (const NumberMutation& each : table.numbers) {
      if (!name.starts_with(each.prefix)) continue;
      if (const auto number = number_in(name.substr(each.prefix.size())))
        return each.apply(draft, *number);
    }
  }
  return std::nullopt;
}

}  // namespace steertag::mutate
