// The device's access to an operation's octets: in a region, staged, or registered for it alone.
#pragma once

#include <memory>
#include <span>

#include "fabric/verbs/memory_region.h"

namespace steertag::fabric::verbs {

class LocalBuffer {
 public:
  LocalBuffer() = default;

  /// The concatenation of `parts`, for sending. A part inside a region of the domain, or a large
  /// one anywhere, is sent from its place. Others are copied now.
  static Expected<LocalBuffer, Error> gather(VerbsDomain& domain, std::span<const View> parts);
  /// A buffer for received octets, which end up in `buffer`.
  static Expected<LocalBuffer, Error> landing(VerbsDomain& domain, MutableView buffer);
  /// `length` octets of a region's memory from `offset` on, as the sink of an RDMA Read.
  static Expected<LocalBuffer, Error> sink(const VerbsDomain& domain,
                                           std::shared_ptr<GuardedMemory> memory,
                                           std::uint64_t offset, std::uint32_t length);

  /// Also without octets: siw refuses an empty list of elements.
  ibv_sge& element() { return element_; }
  std::byte* first() const { return reinterpret_cast<std::byte*>(element_.addr); }
  std::uint32_t length() const { return element_.length; }
  std::uint32_t lkey() const { return element_.lkey; }
  /// Staged octets are at `first()`, and not in their place yet.
  bool staged() const { return static_cast<bool>(slot_); }

 private:
  void point(std::byte* first, std::size_t length, std::uint32_t lkey);
  Expected<void, Error> use_in_place(VerbsDomain& domain, std::byte* first, std::size_t length,
                                     int access);

  ibv_sge element_{};
  Staging::Slot slot_;
  // Declared before their registration, which is destroyed first.
  Bytes joined_;
  std::shared_ptr<GuardedMemory> memory_;
  Registration registration_;
};

}  // namespace steertag::fabric::verbs
