// Linear probing with backward shift: only the load determines the length of a probe.
#include "conformance/call_table.h"

#include <utility>

namespace steertag::conformance {

std::size_t list_entries(const wire::Header& header) {
  return header.read_list.size() + header.write_list.size() + header.write_list.segment_count() +
         header.reply_chunk.size();
}

void Call::reset() {
  if (entries > kMostIdleEntries) {
    header = {};
    placed = {};
    segments = {};
  }

  event = 0;
  time_ns = 0;
  vers = 0;
  messages = 0;
  answers = 0;
  faulty = false;
  doubtful = false;
  counted = false;
  placement_unknown = false;
  discard = Discard::none;
  header.clear();
  rpc.reset();
  placed.clear();
  segments.clear();
  entries = 0;
  pending_reads = 0;
}

std::size_t CallTable::slot_of(std::uint32_t xid) const {
  std::size_t slot = slots_.home(xid);
  // A quarter is always free.
  while (slots_[slot] != Slots::kFree && pool_[slots_[slot]].xid != xid) {
    slot = slots_.around(slot + 1);
  }
  return slot;
}

const Call* CallTable::find(std::uint32_t xid) const {
  if (used_ == 0) return nullptr;
  const std::uint32_t index = slots_[slot_of(xid)];
  return index == Slots::kFree ? nullptr : &pool_[index];
}

Call* CallTable::find(std::uint32_t xid) {
  return const_cast<Call*>(std::as_const(*this).find(xid));
}

Call* CallTable::insert(std::uint32_t xid) {
  if (used_ == kMostXids) return nullptr;
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pool_.size()));
    pool_.emplace_back().index = free_.back();
  }
  Call& call = pool_[free_.back()];
  free_.pop_back();
  call.xid = xid;
  call.serial = next_serial_++;
  slots_[slot_of(xid)] = call.index;
  ++used_;
  return &call;
}

void CallTable::erase(Call& call) {
  std::size_t hole = slot_of(call.xid);
  for (std::size_t next = slots_.around(hole + 1); slots_[next] != Slots::kFree;
       next = slots_.around(next + 1)) {
    const std::size_t from_home = slots_.around(next - slots_.home(pool_[slots_[next]].xid));
    if (from_home >= slots_.around(next - hole)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole] = Slots::kFree;
  call.reset();
  call.serial = 0;
  free_.push_back(call.index);
  --used_;
}

const Call* CallTable::at(std::uint32_t index, std::uint64_t serial) const {
  return pool_[index].serial == serial ? &pool_[index] : nullptr;
}

Call* CallTable::at(std::uint32_t index, std::uint64_t serial) {
  return const_cast<Call*>(std::as_const(*this).at(index, serial));
}

void CallTable::grow() {
  for (const std::uint32_t index : slots_.grow()) {
    if (index != Slots::kFree) slots_[slot_of(pool_[index].xid)] = index;
  }
}

}  // namespace steertag::conformance
