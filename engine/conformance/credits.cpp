// Credit accounting.
#include "conformance/credits.h"

#include <algorithm>

namespace steertag::conformance {

void Credits::start(bool known) {
  known_ = known;
  levels_[0] = {0, known ? 1 : kMostUnseenGrant};
  count_ = 1;
}

void Credits::grant(std::uint32_t value) {
  if (value == 0) value = std::max<std::uint32_t>(latest(), 1);
  known_ = true;
  granted_ = true;
  // An older grant that is not higher allows nothing more than this one.
  while (count_ > 0 && levels_[count_ - 1].grant <= value) --count_;
  if (count_ == kMostGrantLevels) forget_spent();
  if (count_ == kMostGrantLevels) {
    levels_[count_ - 1].answered = answered_;
    return;
  }
  levels_[count_++] = {answered_, value};
}

/// Drops the oldest grants that cannot allow any call.
void Credits::forget_spent() {
  std::size_t spent = 0;
  while (spent < count_ && sent_ + 1 - levels_[spent].answered > levels_[spent].grant) ++spent;
  for (std::size_t i = spent; i < count_; ++i) levels_[i - spent] = levels_[i];
  count_ -= spent;
}

bool Credits::allows_one_more() const {
  if (!known_) return true;
  for (std::size_t i = count_; i-- > 0;) {
    if (sent_ + 1 - levels_[i].answered <= levels_[i].grant) return true;
  }
  return false;
}

}  // namespace steertag::conformance
