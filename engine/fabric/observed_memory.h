// Notifies observers of a domain's memory.
#pragma once

#include <vector>

#include "fabric/region.h"
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
  /// `open_length` octets of the region were opened.
  void notify_offered(const Region& region, std::size_t open_length) const;
  void notify_invalidated(std::uint32_t stag, bool guard_intact) const;
  static void notify_offered(MemoryObserver& observer, const Region& region,
                             std::size_t open_length);

 private:
  /// Notifies the observer of each open region, in order of allocation.
  virtual void notify_open(MemoryObserver& observer) const = 0;
  std::vector<MemoryObserver*> observers_;
};

}  // namespace steertag::fabric
