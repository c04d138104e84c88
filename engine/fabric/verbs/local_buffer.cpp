// Chooses how the device accesses octets.
#include "fabric/verbs/local_buffer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/net_names.h"

namespace steertag::fabric::verbs {
namespace {

Unexpected<Error> refused(std::size_t length) {
  return tl::unexpected(Error{Errc::bad_region, "the device registers no further " +
                                                    std::to_string(length) +
                                                    " octets: " + error_text(errno)});
}

void join(std::span<const View> parts, std::byte* to) {
  for (const View& part : parts) {
    to = std::ranges::copy(part, to).out;
  }
}

}  // namespace

void LocalBuffer::point(std::byte* first, std::size_t length, std::uint32_t lkey) {
  element_.addr = reinterpret_cast<std::uintptr_t>(first);
  element_.length = static_cast<std::uint32_t>(length);
  element_.lkey = lkey;
}

Expected<void, Error> LocalBuffer::use_in_place(VerbsDomain& domain, std::byte* first,
                                                std::size_t length, int access) {
  if (VerbsRegion* const region = domain.around({first, length}); region != nullptr) {
    const ibv_mr* const local = region->memory()->local();
    if (local == nullptr) {
      return refused(length);
    }
    memory_ = region->memory();
    point(first, length, local->lkey);
    return {};
  }
  registration_ = Registration::make(domain.pd(), first, length, access);
  if (!registration_) {
    return refused(length);
  }
  point(first, length, registration_.lkey());
  return {};
}

Expected<LocalBuffer, Error> LocalBuffer::gather(VerbsDomain& domain, std::span<const View> parts) {
  LocalBuffer buffer;
  std::size_t total = 0;
  const View* only = nullptr;
  for (const View& part : parts) {
    only = part.empty() ? only : total == 0 ? &part : nullptr;
    total += part.size();
  }
  if (total == 0) {
    return buffer;
  }
  // The device only reads here, although ibv_sge has no const form.
  std::byte* place = only != nullptr ? const_cast<std::byte*>(only->data()) : nullptr;
  const bool inside = only != nullptr && domain.around(*only) != nullptr;
  if (!inside && total <= kMostStagedBytes) {
    buffer.slot_ = domain.staging().take(total);
    if (!buffer.slot_) {
      return refused(total);
    }
    join(parts, buffer.slot_.first());
    buffer.point(buffer.slot_.first(), total, buffer.slot_.lkey());
    return buffer;
  }
  if (only == nullptr) {
    buffer.joined_.resize(total);
    join(parts, buffer.joined_.data());
    place = buffer.joined_.data();
  }
  if (auto used = buffer.use_in_place(domain, place, total, 0); !used) {
    return tl::unexpected(used.error());
  }
  return buffer;
}

Expected<LocalBuffer, Error> LocalBuffer::landing(VerbsDomain& domain, MutableView place) {
  LocalBuffer buffer;
  if (place.empty()) {
    return buffer;
  }
  if (place.size() <= kMostStagedBytes && domain.around(place) == nullptr) {
    buffer.slot_ = domain.staging().take(place.size());
    if (!buffer.slot_) {
      return refused(place.size());
    }
    buffer.point(buffer.slot_.first(), place.size(), buffer.slot_.lkey());
    return buffer;
  }
  auto used = buffer.use_in_place(domain, place.data(), place.size(), IBV_ACCESS_LOCAL_WRITE);
  if (!used) {
    return tl::unexpected(used.error());
  }
  return buffer;
}

Expected<LocalBuffer, Error> LocalBuffer::sink(const VerbsDomain& domain,
                                               std::shared_ptr<GuardedMemory> memory,
                                               std::uint64_t offset, std::uint32_t length) {
  LocalBuffer buffer;
  if (length == 0) {
    return buffer;
  }
  buffer.memory_ = std::move(memory);
  std::byte* const first = buffer.memory_->first() + offset;
  if (!domain.device().iwarp()) {
    const ibv_mr* const local = buffer.memory_->local();
    if (local == nullptr) {
      return refused(length);
    }
    buffer.point(first, length, local->lkey);
    return buffer;
  }
  // RFC 5040 4.4: the peer writes its response to an STag of ours, which is open for this alone.
  buffer.registration_ = Registration::make(domain.pd(), first, length,
                                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (!buffer.registration_) {
    return refused(length);
  }
  buffer.point(first, length, buffer.registration_.lkey());
  return buffer;
}

}  // namespace steertag::fabric::verbs
