// The slots of a session's fore channel as its client uses them (RFC 8881 2.10.6.1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace steertag::peer {

/// Every call takes a slot and keeps it until its reply, however often it is sent again. Slot and
/// sequence id thus tell the server that it is the same call.
class SlotTable {
 public:
  /// A new session with so many slots.
  void reset(std::uint32_t slots);

  /// The lowest slot that is free and within the server's target.
  std::optional<std::uint32_t> take();
  /// The sequence id of the call that has the slot.
  std::uint32_t sequence_id(std::uint32_t slot) const { return slots_[slot].sequence_id; }
  /// The call was answered. `executed`: its SEQUENCE was, so that the next call has the next id.
  void give_back(std::uint32_t slot, bool executed);
  /// The fate of the call is unknown. No other call may use the slot, or it would get that reply.
  void lose(std::uint32_t slot);
  /// sr_target_highest_slotid
  void set_target(std::uint32_t highest_slot) { target_ = highest_slot; }
  /// rsa_target_highest_slotid: the target becomes no higher by it (RFC 8881 20.8.3).
  void recall(std::uint32_t highest_slot) { target_ = std::min(target_, highest_slot); }
  std::uint32_t target() const { return target_; }

  /// sa_highest_slotid: the highest slot that has a call.
  std::uint32_t highest_in_use() const;
  /// Whether the slot has a call with this sequence id.
  bool is_under_way(std::uint32_t slot, std::uint32_t sequence_id) const;
  /// No slot has a call.
  bool idle() const;
  /// No slot will ever be free again.
  bool exhausted() const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }

 private:
  enum class Use : std::uint8_t { free, taken, lost };
  struct Slot {
    std::uint32_t sequence_id = 1;
    Use use = Use::free;
  };
  std::vector<Slot> slots_;
  std::uint32_t target_ = 0;
};

}  // namespace steertag::peer
