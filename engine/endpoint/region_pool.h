// Registered memory for reuse: regions in a few sizes, within a budget of octets.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace steertag::peer {

class RegionPool;

/// A region on loan; goes back to its pool (closed to the peer) when it is destroyed.
class PooledRegion {
 public:
  PooledRegion() = default;
  PooledRegion(PooledRegion&&) = default;
  PooledRegion& operator=(PooledRegion&& other) noexcept;
  ~PooledRegion() { release(); }

  explicit operator bool() const { return region_ != nullptr; }
  fabric::Region& operator*() const { return *region_; }
  fabric::Region* operator->() const { return region_.get(); }
  void release();

 private:
  friend class RegionPool;
  PooledRegion(RegionPool& pool, std::unique_ptr<fabric::Region> region)
      : pool_(&pool), region_(std::move(region)) {}

  RegionPool* pool_ = nullptr;
  std::unique_ptr<fabric::Region> region_;
};

/// What a loan holds: zeros, or octets of earlier loans of the same pool. These are for a buffer
/// that its owner overwrites, or that the same peer fills and that nothing reads beyond that.
enum class Contents : std::uint8_t { zeros, any };

/// Must outlive its loans, and be destroyed before its domain.
class RegionPool {
 public:
  RegionPool(fabric::Domain& domain, std::size_t budget_bytes)
      : domain_(domain), budget_bytes_(budget_bytes) {}

  /// A region of at least `length` octets; exactly `length` of them are opened with
  /// `rights`. Empty when the budget does not allow it now, or the device opens no further memory.
  /// With `window_of` it is opened as a window of that connection
  /// (fabric::Connection::open_window).
  PooledRegion acquire(std::size_t length, fabric::Rights rights,
                       fabric::Connection* window_of = nullptr,
                       Contents contents = Contents::zeros);
  /// Octets that a loan of `length` takes of the budget.
  static std::size_t size_for(std::size_t length);
  /// True if `length` octets can never be had.
  bool impossible(std::size_t length) const { return size_for(length) > budget_bytes_; }
  std::size_t loaned_bytes() const { return loaned_bytes_; }
  /// Regions that came back with a damaged guard: something wrote outside of a region.
  std::size_t damaged() const { return damaged_; }

 private:
  friend class PooledRegion;
  static constexpr std::array<std::size_t, 5> kSizes{4096, 16384, 65536, 262144,
                                                     (std::size_t{1} << 20) + 65536};
  std::unique_ptr<fabric::Region> take_idle(std::size_t size);
  void give_back(std::unique_ptr<fabric::Region> region);

  fabric::Domain& domain_;
  std::size_t budget_bytes_;
  std::size_t loaned_bytes_ = 0;
  std::size_t idle_bytes_ = 0;
  std::size_t damaged_ = 0;
  std::array<std::vector<std::unique_ptr<fabric::Region>>, kSizes.size()> idle_;
};

}  // namespace steertag::peer
