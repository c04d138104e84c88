// Memory of posted receives, which the system provides page by page when a message arrives.
#pragma once

#include <cstddef>
#include <memory>

#include "support/bytes.h"

namespace steertag::peer {

/// Octets of zeros, from the start of a page on. Posting receives in it costs address space only,
/// so that an idle connection has no memory in its receives.
class ReceiveMemory {
 public:
  ReceiveMemory() = default;
  /// Throws std::bad_alloc.
  explicit ReceiveMemory(std::size_t length);

  std::size_t size() const { return start_ ? start_.get_deleter().length : 0; }
  bool empty() const { return size() == 0; }
  MutableView bytes() { return {start_.get(), size()}; }
  /// Gives what was used back to the system: all octets are zero again.
  void release();

 private:
  struct Unmap {
    std::size_t length;
    Unmap() : length(0) {}  // an initializer of the member would come too late for Mapping
    explicit Unmap(std::size_t octets) : length(octets) {}
    void operator()(std::byte* start) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmap>;
  Mapping start_;
};

}  // namespace steertag::peer
