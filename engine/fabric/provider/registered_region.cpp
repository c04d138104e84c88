// Guards, and the list of a domain's regions.
#include "fabric/provider/registered_region.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/provider/observed_memory.h"

namespace steertag::fabric {
namespace {

constexpr auto kGuard = [] {
  std::array<std::byte, kGuardBytes> guard{};
  guard.fill(kGuardOctet);
  return guard;
}();

}  // namespace

void fill_guards(std::byte* first, std::size_t length) {
  std::ranges::copy(kGuard, first - kGuardBytes);
  std::ranges::copy(kGuard, first + length);
}

bool guards_intact(const std::byte* first, std::size_t length) {
  const auto intact = [](const std::byte* from) {
    return std::memcmp(from, kGuard.data(), kGuard.size()) == 0;
  };
  return intact(first - kGuardBytes) && intact(first + length);
}

RegisteredRegion::RegisteredRegion(ObservedMemory& domain, std::size_t open_length, Rights rights)
    : open_length_(open_length), rights_(rights), domain_(domain) {
  domain_.regions_.push_back(this);
}

RegisteredRegion::~RegisteredRegion() {
  std::erase(domain_.regions_, this);
}

}  // namespace steertag::fabric
