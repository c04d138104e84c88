// The provider's poll.
#include "fabric/provider/reactor_provider.h"

#include <chrono>

namespace steertag::fabric {
namespace {

// Between two polls of an owner that does little more than post what is next.
constexpr std::chrono::microseconds kPromptPause{20};

}  // namespace

std::size_t ReactorProvider::poll(std::chrono::milliseconds timeout) {
  // The timeout is real time with any clock. It limits the caller's wait, and a test's stopped
  // clock would make it endless.
  using std::chrono::steady_clock;
  core_->notices = 0;
  core_->reactor.begin_round();
  const auto begin = steady_clock::now();
  core_->prompt_polls = begin - returned_ <= kPromptPause ? core_->prompt_polls + 1 : 0;
  const auto end = begin + timeout;
  std::chrono::milliseconds left = timeout;
  while (true) {
    settle();
    const bool busy = core_->notices > 0 || !core_->turns.empty();
    core_->reactor.poll(busy ? std::chrono::milliseconds{0} : left);
    settle();
    retired_.clear();
    core_->sweep();
    const auto now = steady_clock::now();
    left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    if (core_->reactor.take_woken() || core_->notices > 0 || left.count() <= 0) {
      returned_ = now;
      return core_->notices;
    }
  }
}

std::chrono::milliseconds ReactorProvider::idle_for(std::chrono::milliseconds most) {
  return core_->turns.empty() ? core_->reactor.idle_for(most) : std::chrono::milliseconds{0};
}

void ReactorProvider::settle() {
  core_->turns.run();
  core_->after_turns();
}

}  // namespace steertag::fabric
