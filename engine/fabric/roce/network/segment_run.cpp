// Which packets the system takes as one.
#include "fabric/roce/network/segment_run.h"

#include <algorithm>
#include <cstring>

namespace steertag::fabric::roce {

bool SegmentRun::takes(const Address& to, std::size_t bytes) const {
  return count_ > 0 && count_ < kMostSegments && !ended_ && bytes <= size_ &&
         bytes <= kMostBytes - bytes_ && to.length == to_.length &&
         std::memcmp(&to.storage, &to_.storage, to.length) == 0;
}

std::uint16_t SegmentRun::add(const Address& to, std::size_t bytes) {
  if (!takes(to, bytes)) {
    to_ = to;
    size_ = bytes;
    bytes_ = 0;
    count_ = 0;
  }
  ended_ = bytes < size_;
  bytes_ += bytes;
  return static_cast<std::uint16_t>(count_++);
}

std::size_t leading_run(std::span<const Outbound> packets) {
  const auto other = std::ranges::find(packets.subspan(1), 0, &Outbound::identification);
  return static_cast<std::size_t>(other - packets.begin());
}

}  // namespace steertag::fabric::roce
