// The regions that the peer of one connection alone may access: memory windows of type 2.
#pragma once

#include <set>

namespace steertag::fabric::software {

class SoftwareRegion;

class Windows {
 public:
  Windows() = default;
  ~Windows() { close_all(); }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  /// Closes every region that is open as a window.
  void close_all();

 private:
  friend class SoftwareRegion;
  std::set<SoftwareRegion*> regions_;
};

}  // namespace steertag::fabric::software
