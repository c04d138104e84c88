// The list of all deviations.
#include "deviations/catalogue.h"

#include <algorithm>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kProposals = 3;

const std::vector<Deviation>& catalogue() {
  static const std::vector<Deviation> kAll = [] {
    std::vector<Deviation> rows;
    for (const Family& family : kFamilies)
      rows.insert(rows.end(), family.rows().begin(), family.rows().end());
    return rows;
  }();
  return kAll;
}

/// Insertions, deletions and replacements that turn one name into the other.
std::size_t edits(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  std::array<std::size_t, kLongestName + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<const Deviation*> all(trace::Role side) {
  std::vector<const Deviation*> rows;
  for (const Deviation& row : catalogue()) {
    if (row.side == side) rows.push_back(&row);
  }
  return rows;
}

const Deviation* find(std::string_view name, trace::Role side) {
  for (const Deviation* row : all(side)) {
    if (row->name == name) return row;
  }
  return nullptr;
}

Expected<const Deviation*, std::string> find_or_propose(std::string_view name, trace::Role side) {
  if (const Deviation* row = find(name, side)) return row;
  std::vector<const Deviation*> near = all(side);
  std::ranges::stable_sort(near, {}, [&](const Deviation* row) { return edits(name, row->name); });
  std::string text = "there is no deviation '" + std::string(name) + "'; the nearest are";
  for (std::size_t i = 0; i < std::min(kProposals, near.size()); ++i) {
    text += i == 0 ? " " : ", ";
    text += near[i]->name;
  }
  return tl::unexpected(std::move(text));
}

std::vector<std::string_view> broken(const Deviation& deviation) {
  const auto end = std::ranges::find(deviation.breaks, std::string_view{});
  return {deviation.breaks.begin(), end};
}

}  // namespace steertag::deviations
