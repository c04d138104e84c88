// The ledger: every requirement that a verdict may name, with its permanent id.
//
// The build generates the table from requirements/*.yaml (generate.py describes a row).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ledger/ids.h"

namespace steertag::ledger {

/// The document's RFC 2119 word. `def`: normative in effect without a capitalised key word.
enum class Level : std::uint8_t {
  must,
  must_not,
  should,
  should_not,
  may,
  required,
  optional,
  not_recommended,
  def
};

/// Why a row needs no case. All texts are empty in a row that needs one.
struct Exemption {
  std::string_view kind;  // a word of generate.py's EXEMPTIONS
  std::string_view role;  // "client" or "server" if only that one is exempt
  std::string_view by;    // ids of the rows that replace it, separated by blanks
  std::string_view why;   // a sentence
};

struct Requirement {
  std::string_view id;        // "RFC8166-4.2.1-1"
  std::string_view document;  // "RFC8166"
  std::string_view section;   // "4.2.1"
  Level level = Level::def;
  std::string_view role;  // who has to comply
  std::string_view subject;
  std::string_view statement;
  std::string_view observable;
  std::string_view test;
  std::string_view note;  // a known conflict, doubt or widespread deviation; may be empty
  Exemption exemption;
};

struct Document {
  std::string_view name;  // "RFC8166"
  std::string_view title;
};

/// All requirements, sorted by id.
std::span<const Requirement> requirements();
/// All documents, sorted by name.
std::span<const Document> documents();
/// The requirement with this id, or nullptr.
const Requirement* find(std::string_view id);
/// The RFC 2119 word: "MUST NOT"; "DEF" for Level::def.
std::string_view name(Level level);

/// The name of a requirement that exists. Only `ref` creates one, at compile time.
class Ref {
 public:
  const Requirement& operator*() const { return requirements()[index_]; }
  const Requirement* operator->() const { return &**this; }
  const Requirement* get() const { return &**this; }
  constexpr std::string_view id() const { return kIds[index_]; }
  bool operator==(const Ref&) const = default;

 private:
  constexpr explicit Ref(std::size_t index) : index_(static_cast<std::uint16_t>(index)) {}
  friend consteval Ref ref(std::string_view id);

  std::uint16_t index_;
};

/// Declared and never defined: a call ends the compile-time lookup, and the error shows its name.
void this_id_is_not_in_the_ledger();

/// `ledger::ref("RFC8166-4.2.1-1")`; an unknown id does not compile.
consteval Ref ref(std::string_view id) {
  std::size_t low = 0;
  std::size_t high = kIds.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (kIds[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == kIds.size() || kIds[low] != id) this_id_is_not_in_the_ledger();
  return Ref(low);
}

}  // namespace steertag::ledger
