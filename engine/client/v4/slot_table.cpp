// Slots and their sequence ids.
#include "client/v4/slot_table.h"

namespace steertag::peer {

void SlotTable::reset(std::uint32_t slots) {
  slots_.assign(slots, Slot{});
  target_ = slots == 0 ? 0 : slots - 1;
}

std::optional<std::uint32_t> SlotTable::take() {
  for (std::uint32_t slot = 0; slot < size() && slot <= target_; ++slot) {
    if (slots_[slot].use != Use::free) continue;
    slots_[slot].use = Use::taken;
    return slot;
  }
  return std::nullopt;
}

void SlotTable::give_back(std::uint32_t slot, bool executed) {
  slots_[slot].use = Use::free;
  if (executed) ++slots_[slot].sequence_id;  // RFC 8881 2.10.6.1: it wraps around to 0
}

void SlotTable::lose(std::uint32_t slot) {
  slots_[slot].use = Use::lost;
}

std::uint32_t SlotTable::highest_in_use() const {
  for (std::uint32_t slot = size(); slot > 0; --slot) {
    if (slots_[slot - 1].use == Use::taken) return slot - 1;
  }
  return 0;
}

bool SlotTable::is_under_way(std::uint32_t slot, std::uint32_t sequence_id) const {
  return slot < size() && slots_[slot].use == Use::taken && slots_[slot].sequence_id == sequence_id;
}

bool SlotTable::idle() const {
  return std::none_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return slot.use == Use::taken; });
}

bool SlotTable::exhausted() const {
  // A target below a lost slot leaves nothing either.
  const auto reachable = std::min<std::size_t>(slots_.size(), std::size_t{target_} + 1);
  return std::all_of(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(reachable),
                     [](const Slot& slot) { return slot.use == Use::lost; });
}

}  // namespace steertag::peer
