// What regions of every provider share: the STag's state, the guards, and their place in a domain.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/region.h"

namespace steertag::fabric {

class ObservedMemory;

/// Fills the guards on both sides of the `length` octets at `first`.
void fill_guards(std::byte* first, std::size_t length);
/// Whether the guards on both sides of the `length` octets at `first` are unchanged.
bool guards_intact(const std::byte* first, std::size_t length);

/// A region as the provider's class sets it. That class invalidates it in its destructor.
class RegisteredRegion : public Region {
 public:
  RegisteredRegion(const RegisteredRegion&) = delete;
  RegisteredRegion& operator=(const RegisteredRegion&) = delete;

  std::uint32_t stag() const final { return stag_; }
  std::uint64_t base() const final { return base_; }
  Rights rights() const final { return rights_; }
  bool valid() const final { return valid_; }

  /// Octets that the STag covers.
  std::size_t open_length() const { return open_length_; }
  bool remotely_open() const { return valid_ && (rights_.remote_read || rights_.remote_write); }

 protected:
  /// `domain` must outlive the region.
  RegisteredRegion(ObservedMemory& domain, std::size_t open_length, Rights rights);
  ~RegisteredRegion() override;

  std::size_t open_length_;
  Rights rights_;
  std::uint32_t stag_ = 0;
  std::uint64_t base_ = 0;
  bool valid_ = false;

 private:
  ObservedMemory& domain_;
};

}  // namespace steertag::fabric
