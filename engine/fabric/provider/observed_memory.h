// Notifies observers of a domain's memory.
#pragma once

#include <vector>

#include "fabric/provider/registered_region.h"
#include "trace/event.h"

namespace steertag::fabric {

/// Notified when memory of a domain is opened to the peer, and closed.
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  virtual void on_offered(const trace::MemoryOffered& offered) = 0;
  virtual void on_invalidated(const trace::MemoryInvalidated& invalidated) = 0;
};

/// The part of a domain that observers know.
class ObservedMemory {
 public:
  virtual ~ObservedMemory() = default;
  /// From now on `observer` is notified, first of open regions.
  void add(MemoryObserver& observer);
  void remove(MemoryObserver& observer);

 protected:
  void notify_offered(const RegisteredRegion& region) const;
  void notify_invalidated(std::uint32_t stag, bool guard_intact) const;

 private:
  friend class RegisteredRegion;

  std::vector<MemoryObserver*> observers_;
  std::vector<const RegisteredRegion*> regions_;  // in order of allocation
};

}  // namespace steertag::fabric
