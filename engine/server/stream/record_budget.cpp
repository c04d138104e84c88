// Parts of sources, and turns.
#include "server/stream/record_budget.h"

#include <algorithm>

namespace steertag::peer {

bool RecordBudget::is_within_part(const net::Source& source, bool proven,
                                  std::size_t octets) const {
  const std::size_t part = shared_bytes_ / kRecordParts;
  const std::size_t most = proven ? shared_bytes_ - part : part;
  const auto taken = taken_of_.find(source);
  return (taken == taken_of_.end() ? 0 : taken->second) + octets <= most;
}

void RecordBudget::add(const net::Source& source, std::size_t octets) {
  taken_bytes_ += octets;
  taken_of_[source] += octets;
}

bool RecordBudget::take(const Owner& owner, std::size_t octets) {
  const auto turn = std::ranges::find_if(turns_, [&](const Turn& each) {
    return each.source == owner.source && each.proven == owner.proven;
  });
  if (turn != turns_.end()) {
    turn->records.push_back({owner.connection, octets});
    return false;
  }
  if (!is_short_ && is_within_part(owner.source, owner.proven, octets)) {
    is_short_ = !has_room(octets);
    if (!is_short_) {
      add(owner.source, octets);
      return true;
    }
  }
  turns_.push_back({owner.source, owner.proven, {{owner.connection, octets}}});
  return false;
}

void RecordBudget::give_back(const net::Source& source, std::size_t octets) {
  if (octets == 0) return;
  taken_bytes_ -= octets;
  const auto taken = taken_of_.find(source);
  taken->second -= octets;
  if (taken->second == 0) taken_of_.erase(taken);
}

RecordBudget::Record RecordBudget::take_first() {
  Turn turn = std::move(turns_.front());
  turns_.pop_front();
  const Record first = turn.records.front();
  turn.records.pop_front();
  if (!turn.records.empty()) turns_.push_back(std::move(turn));
  return first;
}

std::optional<RecordBudget::Grant> RecordBudget::next() {
  is_short_ = false;
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    const Turn& turn = turns_.front();
    const std::size_t octets = turn.records.front().octets;
    if (!is_within_part(turn.source, turn.proven, octets)) {
      std::rotate(turns_.begin(), turns_.begin() + 1, turns_.end());
      continue;
    }
    is_short_ = !has_room(octets);
    if (is_short_) break;
    add(turn.source, octets);
    return Grant{take_first().connection, octets, false};
  }
  if (turns_.empty() || std::exchange(set_aside_taken_, true)) return std::nullopt;
  const Record first = take_first();
  return Grant{first.connection, first.octets, true};
}

void RecordBudget::forget(const StreamConnection& connection) {
  for (Turn& turn : turns_)
    std::erase_if(turn.records,
                  [&](const Record& record) { return record.connection == &connection; });
  std::erase_if(turns_, [](const Turn& turn) { return turn.records.empty(); });
}

bool RecordBudget::is_wanted_from(const net::Source& source) const {
  return is_short_ ||
         std::ranges::any_of(turns_, [&](const Turn& turn) { return turn.source == source; });
}

}  // namespace steertag::peer
