// Registered memory for reuse: regions in a few sizes, within a budget of octets.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace steertag::peer {

class RegionPool;

/// When the memory of a loan is closed to the peer.
enum class Registration : std::uint8_t {
  each,    // when it comes back
  cached,  // when its memory serves another purpose: its STag stays open over loans that are alike
};
/// Regions that stay open while they are idle; beyond that the one that was used least recently is
/// closed. A device has room for so many.
inline constexpr std::size_t kMostOpenRegions = 256;

/// What a pool closes of cached loans before their memory serves something else. The defaults
/// conform.
struct RegistrationPolicy {
  bool closes_reused = true;    // false: the STag of memory that is needed elsewhere stays open
  bool compares_length = true;  // false: an open region serves any loan with fewer octets
};

/// A region on loan; goes back to its pool when it is destroyed.
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
  PooledRegion(RegionPool& pool, std::unique_ptr<fabric::Region> region, std::size_t length,
               Registration registration)
      : pool_(&pool), region_(std::move(region)), length_(length), registration_(registration) {}

  RegionPool* pool_ = nullptr;
  std::unique_ptr<fabric::Region> region_;
  std::size_t length_ = 0;  // octets that are open
  Registration registration_ = Registration::each;
};

/// What a loan holds: zeros, or octets of earlier loans of the same pool. These are for a buffer
/// that its owner overwrites, or that the same peer fills and that nothing reads beyond that.
enum class Contents : std::uint8_t { zeros, any };

/// Must outlive its loans, and be destroyed before its domain.
class RegionPool {
 public:
  RegionPool(fabric::Domain& domain, std::size_t budget_bytes, RegistrationPolicy policy = {})
      : domain_(domain), budget_bytes_(budget_bytes), policy_(policy) {}

  /// A region of at least `length` octets; exactly `length` of them are opened with
  /// `rights`. Empty when the budget does not allow it now, or the device opens no further memory.
  /// With `window_of` it is opened as a window of that connection
  /// (fabric::Connection::open_window), for this loan alone. Otherwise a `cached` loan has a region
  /// that is open from an earlier one with the same length and rights, if there is one. Who closes
  /// a loan (Region::invalidate) does not leave it open for later ones.
  PooledRegion acquire(std::size_t length, fabric::Rights rights,
                       fabric::Connection* window_of = nullptr, Contents contents = Contents::zeros,
                       Registration registration = Registration::each);
  /// Closes what is open and not on loan.
  void close_idle();
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
  using Held = std::unique_ptr<fabric::Region>;
  /// Idle, and open to the peer.
  struct OpenRegion {
    Held region;
    std::size_t length = 0;
  };
  using OpenRegions = std::deque<OpenRegion>;

  std::vector<Held>* idle_of(std::size_t size);
  Held take_open(std::size_t length, fabric::Rights rights);
  Held take_idle(std::size_t size);
  void close(OpenRegions::iterator open);
  void make_room(std::size_t size);
  void give_back(Held region, std::size_t length, Registration registration);
  void keep_idle(Held region);

  fabric::Domain& domain_;
  std::size_t budget_bytes_;
  RegistrationPolicy policy_;
  std::size_t loaned_bytes_ = 0;
  std::size_t idle_bytes_ = 0;  // the open ones too
  std::size_t damaged_ = 0;
  std::array<std::vector<Held>, kSizes.size()> idle_;
  OpenRegions open_;  // the one that was used last at the back
  /// Open for good, and not lent again: kMostOpenRegions at most.
  std::deque<Held> left_open_;
};

}  // namespace steertag::peer
