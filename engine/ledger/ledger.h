// The ledger: every requirement that a verdict may name, with its permanent id. The table is
// generated at build time from requirements/*.yaml.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace steertag::ledger {

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
};

/// All requirements, sorted by id.
std::span<const Requirement> requirements();
/// The requirement with this id, or nullptr.
const Requirement* find(std::string_view id);
std::string_view name(Level level);

/// Refuses to compile when the id is not in the ledger: `ledger::ref("RFC8166-4.2.1-1")` is
/// a compile-time lookup of the generated table.
class Ref {
 public:
  constexpr const Requirement& operator*() const { return *requirement_; }
  constexpr const Requirement* operator->() const { return requirement_; }
  constexpr explicit Ref(const Requirement* requirement) : requirement_(requirement) {}

 private:
  const Requirement* requirement_;
};

}  // namespace steertag::ledger
