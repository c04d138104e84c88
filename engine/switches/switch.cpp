// The table of deviations.
#include "switches/switch.h"

#include <algorithm>
#include <array>

#include "switches/rows_messages.h"

namespace steertag::peer {
namespace {

template <std::size_t... kCounts>
consteval auto joined(const DeviationInfo (&... parts)[kCounts]) {
  std::array<DeviationInfo, (kCounts + ...)> all{};
  auto next = all.begin();
  ((next = std::ranges::copy(parts, next).out), ...);
  return all;
}

constexpr auto kTable = joined(deviation_rows::kMessages);
constexpr std::size_t kCount = kTable.size();
static_assert(kCount <= Deviations::kMost);

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kTable[i].deviation != static_cast<Deviation>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "the table has the order of the enumeration");

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kProposals = 3;

/// Edits (insertions, deletions, replacements) between two names; names are cut at kLongestName.
std::size_t distance(std::string_view a, std::string_view b) {
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

std::span<const DeviationInfo> deviations(trace::Role side) {
  const std::span<const DeviationInfo> all = kTable;
  const auto border = std::ranges::find(all, trace::Role::client, &DeviationInfo::side);
  const auto servers = static_cast<std::size_t>(border - all.begin());
  return side == trace::Role::server ? all.first(servers) : all.subspan(servers);
}

const DeviationInfo& info(Deviation deviation) {
  return kTable[static_cast<std::size_t>(deviation)];
}

std::optional<Deviation> find_deviation(std::string_view name, trace::Role side) {
  for (const DeviationInfo& row : deviations(side)) {
    if (row.name == name) return row.deviation;
  }
  return std::nullopt;
}

std::vector<std::string_view> nearest_deviations(std::string_view name, trace::Role side,
                                                 std::size_t most) {
  std::vector<std::string_view> names;
  for (const DeviationInfo& row : deviations(side)) names.push_back(row.name);
  std::stable_sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return distance(name, a) < distance(name, b);
  });
  names.resize(std::min(most, names.size()));
  return names;
}

Expected<void, std::string> Deviations::add(std::string_view name, trace::Role side) {
  if (const auto found = find_deviation(name, side)) {
    add(*found);
    return {};
  }
  std::string text = "there is no deviation '" + std::string(name) + "'; the nearest are";
  const char* separator = " ";
  for (const std::string_view near : nearest_deviations(name, side, kProposals)) {
    text += separator;
    text += near;
    separator = ", ";
  }
  return tl::unexpected(std::move(text));
}

}  // namespace steertag::peer
