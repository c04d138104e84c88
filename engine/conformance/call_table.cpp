// Linear probing with backward shift, so that nothing but the load decides the length of a probe.
#include "conformance/call_table.h"

namespace steertag::conformance {

namespace {

constexpr std::size_t kFirstSlots = 256;
constexpr std::uint32_t kGoldenRatio = 0x9e3779b1;  // Fibonacci hashing

}  // namespace

void Call::reset() {
  event = 0;
  vers = 0;
  messages = 0;
  answers = 0;
  faulty = false;
  doubtful = false;
  counted = false;
  murky = false;
  discard = Discard::none;
  header.clear();
  rpc.reset();
  placed.clear();
  offers.clear();
  pending_reads = 0;
}

std::size_t CallTable::home(std::uint32_t xid) const {
  const std::uint32_t mixed = xid * kGoldenRatio;
  return (mixed ^ (mixed >> 15)) & (slots_.size() - 1);
}

std::size_t CallTable::slot_of(std::uint32_t xid) const {
  std::size_t slot = home(xid);
  while (slots_[slot] != kFree && pool_[slots_[slot]].xid != xid) {  // a quarter is always free
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

Call* CallTable::find(std::uint32_t xid) {
  if (used_ == 0) return nullptr;
  const std::uint32_t index = slots_[slot_of(xid)];
  return index == kFree ? nullptr : &pool_[index];
}

Call* CallTable::insert(std::uint32_t xid) {
  if (used_ == kMostCalls) return nullptr;
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pool_.size()));
    pool_.emplace_back().index = free_.back();
  }
  Call& call = pool_[free_.back()];
  free_.pop_back();
  call.reset();
  call.xid = xid;
  call.serial = next_serial_++;
  slots_[slot_of(xid)] = call.index;
  ++used_;
  return &call;
}

void CallTable::erase(Call& call) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(call.xid);
  for (std::size_t next = (hole + 1) & mask; slots_[next] != kFree; next = (next + 1) & mask) {
    const std::size_t from_home = (next - home(pool_[slots_[next]].xid)) & mask;
    if (from_home >= ((next - hole) & mask)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole] = kFree;
  call.serial = 0;
  free_.push_back(call.index);
  --used_;
}

Call* CallTable::at(std::uint32_t index, std::uint64_t serial) {
  return pool_[index].serial == serial ? &pool_[index] : nullptr;
}

void CallTable::grow() {
  std::vector<std::uint32_t> old(slots_.empty() ? kFirstSlots : slots_.size() * 2, kFree);
  old.swap(slots_);
  for (const std::uint32_t index : old) {
    if (index != kFree) slots_[slot_of(pool_[index].xid)] = index;
  }
}

}  // namespace steertag::conformance
