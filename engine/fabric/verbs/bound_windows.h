// The memory windows bound to one queue pair, which must be destroyed before it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "fabric/verbs/registration.h"

namespace steertag::fabric::verbs {

class GuardedMemory;
class VerbsRegion;

class BoundWindows {
 public:
  BoundWindows() = default;
  ~BoundWindows() { close_all(); }
  BoundWindows(const BoundWindows&) = delete;
  BoundWindows& operator=(const BoundWindows&) = delete;

  /// The region's window is about to be bound.
  void add(VerbsRegion& region, std::uint32_t rkey);
  /// The device has done, or dropped, the bind of that key.
  void settled(std::uint32_t rkey);
  /// The region is closed. A window with a queued bind is kept until the bind is done. The peer
  /// cannot know its key, because no later Send has left.
  void remove(VerbsRegion& region, std::uint32_t rkey, Window window,
              std::shared_ptr<GuardedMemory> memory);
  /// Closes every region that is open as a window.
  void close_all();

 private:
  struct Parked {
    std::shared_ptr<GuardedMemory> memory;  // must outlive its window
    Window window;
  };
  std::set<VerbsRegion*> regions_;
  std::set<std::uint32_t> binding_;
  std::map<std::uint32_t, Parked> parked_;
};

}  // namespace steertag::fabric::verbs
