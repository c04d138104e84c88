// The verifier of an exclusive CREATE or OPEN as two times.
#include "server/storage/exclusive_verifier.h"

#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kLastBit = 0x80000000;
constexpr std::uint32_t kQuarterNs = 250'000'000;

Time time_of(std::uint32_t half) {
  return {half & ~kLastBit, (half & kLastBit) == 0 ? kQuarterNs : 3 * kQuarterNs};
}

}  // namespace

VerifierTimes::VerifierTimes(const std::array<std::byte, 8>& verifier)
    : atime(time_of(wire::load_u32(verifier.data()))),
      mtime(time_of(wire::load_u32(verifier.data() + 4))) {}

bool VerifierTimes::are_of(const Attributes& attributes) const {
  return attributes.type == FileType::regular && attributes.size_bytes == 0 &&
         attributes.atime == atime && attributes.mtime == mtime;
}

}  // namespace steertag::peer
