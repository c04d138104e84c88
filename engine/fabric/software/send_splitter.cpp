// The place of each octet of a Send.
#include "fabric/software/send_splitter.h"

#include <algorithm>
#include <cstring>

namespace steertag::fabric::software {

MutableView SendSplitter::next(MutableView receive, std::size_t at, std::size_t most) {
  if (at < kHeadBytes) {
    return receive.subspan(at, std::min(most, kHeadBytes - at));
  }
  if (!read_) {
    read_ = true;
    placement_ = reader_ != nullptr ? reader_->on_head(receive.first(at)) : Placement{};
    // The head is one for all messages, so some of the octets behind it may be in it.
    if (placement_.from < at) {
      const std::size_t early = std::min(at - placement_.from, placement_.to.size());
      std::copy_n(receive.begin() + static_cast<std::ptrdiff_t>(placement_.from), early,
                  placement_.to.begin());
    }
  }
  const std::size_t from = placement_.from;
  const std::size_t end = from + placement_.to.size();
  if (at >= end) {
    return receive.subspan(at, most);
  }
  if (at < from) {
    return receive.subspan(at, std::min(most, from - at));
  }
  return placement_.to.subspan(at - from, std::min(most, end - at));
}

void SendSplitter::put(MutableView receive, std::size_t at, View octets) {
  while (!octets.empty()) {
    const MutableView to = next(receive, at, octets.size());
    std::memcpy(to.data(), octets.data(), to.size());
    octets = octets.subspan(to.size());
    at += to.size();
  }
}

void SendSplitter::gather(MutableView message) const {
  if (placement_.to.empty() || placement_.from >= message.size()) {
    return;
  }
  const MutableView gap = message.subspan(placement_.from);
  std::copy_n(placement_.to.begin(), std::min(gap.size(), placement_.to.size()), gap.begin());
}

}  // namespace steertag::fabric::software
