// Registered memory: regions with guard octets, and the domain that owns them.
//
// The domain knows their steering tags.
#pragma once

#include <memory>
#include <optional>

#include "support/bytes.h"

namespace steertag::fabric {

/// Octets of guard on each side of every region of `Domain::allocate`.
inline constexpr std::size_t kGuardBytes = 64;
/// The value of guard octets.
inline constexpr std::byte kGuardOctet{0xa5};

struct Rights {
  bool remote_read = false;
  bool remote_write = false;
  bool operator==(const Rights&) const = default;
};

/// A memory region: `bytes()` between two guards. The peer addresses it as `stag` and offsets
/// `base` .. `base + bytes().size()`. Invalidated regions keep their octets and lose their STag.
class Region {
 public:
  virtual ~Region() = default;
  virtual MutableView bytes() = 0;
  virtual std::uint32_t stag() const = 0;
  virtual std::uint64_t base() const = 0;
  virtual Rights rights() const = 0;
  /// False once the region was invalidated, locally or by the peer.
  virtual bool valid() const = 0;
  /// Closes the region to the peer. Returns whether the guards were intact.
  virtual bool invalidate() = 0;
  /// Opens the first `length` octets of the region again with a new STag and base, for reuse from a
  /// pool. `length` is at most the whole region.
  virtual void open(Rights rights, std::size_t length) = 0;
  /// Opens the whole region.
  void open(Rights rights) { open(rights, bytes().size()); }
  /// Whether all guard octets are unchanged.
  virtual bool guards_intact() const = 0;
};

/// A protection domain. Regions belong to it and must be destroyed before it.
class Domain {
 public:
  virtual ~Domain() = default;
  /// A region of zeroed memory with guards. `length` may be zero. With `base` the caller chooses
  /// the tagged offset of the first octet (hostile offsets). Otherwise it is random. So is the STag
  /// of a software provider, unless `stag` is free. A device ignores it.
  virtual std::unique_ptr<Region> allocate(std::size_t length, Rights rights,
                                           std::optional<std::uint64_t> base = {},
                                           std::optional<std::uint32_t> stag = {}) = 0;
};

}  // namespace steertag::fabric
