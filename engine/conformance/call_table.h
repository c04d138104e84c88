// The calls of one direction by XID: a hash table over pooled records.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/call.h"
#include "conformance/slots.h"

namespace steertag::conformance {

/// At most this many XIDs in one direction, far above any grant in use. A peer that exceeds it ends
/// the judge's knowledge of that direction, and takes no more memory.
inline constexpr std::size_t kMostXids = 4096;

class CallTable {
 public:
  Call* find(std::uint32_t xid);
  const Call* find(std::uint32_t xid) const;
  /// A fresh record for an XID that is not in the table. nullptr if the table is full.
  Call* insert(std::uint32_t xid);
  void erase(Call& call);
  /// The record with this pool index, if `serial` is still its current use.
  Call* at(std::uint32_t index, std::uint64_t serial);
  const Call* at(std::uint32_t index, std::uint64_t serial) const;
  Call& at(std::uint32_t index) { return pool_[index]; }
  const Call& at(std::uint32_t index) const { return pool_[index]; }
  std::size_t size() const { return used_; }
  /// The largest number of records held at once.
  std::size_t records() const { return pool_.size(); }

 private:
  std::size_t slot_of(std::uint32_t xid) const;
  void grow();

  Slots slots_;  // linear probing
  std::deque<Call> pool_;
  std::vector<std::uint32_t> free_;
  std::size_t used_ = 0;
  std::uint64_t next_serial_ = 1;
};

}  // namespace steertag::conformance
