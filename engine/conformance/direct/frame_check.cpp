// Checks frames piece by piece.
#include "conformance/direct/frame_check.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

constexpr std::uint64_t kGenerationBytes = 8;

}  // namespace

void FrameCheck::begin(std::uint64_t length) {
  length_ = length;
  at_ = 0;
  lost_ = length < kFrameBytes;
  crc_ = {};
}

/// The octets are of the head, of the data, or of the tail alone.
void FrameCheck::take_one_part(View octets) {
  const std::uint64_t tail_at = length_ - tail_.size();
  if (at_ < kFrameHeadBytes) {
    std::ranges::copy(octets, head_.begin() + static_cast<std::ptrdiff_t>(at_));
    if (at_ + octets.size() == kFrameHeadBytes) crc_.update(View(head_).first(kGenerationBytes));
  } else if (at_ < tail_at) {
    crc_.update(octets);
  } else {
    std::ranges::copy(octets, tail_.begin() + static_cast<std::ptrdiff_t>(at_ - tail_at));
  }
  at_ += octets.size();
}

void FrameCheck::take(View octets) {
  const std::uint64_t tail_at = lost_ ? 0 : length_ - tail_.size();
  while (!lost_ && !octets.empty()) {  // at most three parts
    const std::uint64_t end = at_ < kFrameHeadBytes ? kFrameHeadBytes
                              : at_ < tail_at       ? tail_at
                                                    : length_;
    if (at_ == length_) return lose();
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(octets.size(), end - at_));
    take_one_part(octets.first(part));
    octets = octets.subspan(part);
  }
}

std::optional<std::uint64_t> FrameCheck::generation() const {
  if (lost_ || at_ != length_) return std::nullopt;
  return wire::load_u64(head_.data());
}

bool FrameCheck::is_sealed() const {
  return wire::load_u64(tail_.data()) == wire::load_u64(head_.data()) &&
         wire::load_u64(head_.data() + kGenerationBytes) == crc_.value();
}

}  // namespace steertag::conformance
