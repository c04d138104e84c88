// The pass over what waits.
#include "fabric/provider/turns.h"

#include <cstddef>
#include <utility>

namespace steertag::fabric {

void Turns::run() {
  const std::size_t count = waiting_.size();
  for (std::size_t i = 0; i < count; ++i) {
    Turn* const who = std::exchange(waiting_[i], nullptr);
    if (who != nullptr) {
      who->take_turn();
    }
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace steertag::fabric
