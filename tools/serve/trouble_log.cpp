// Lines about failed connections, in a limited number.
#include "serve/trouble_log.h"

namespace steertag::serve {

void TroubleLog::tell(const std::string& peer, const net::Error& error) {
  const auto now = clock_();
  if (lines_.empty() || now - begun_ >= kTroubleInterval) {
    if (left_out_ > 0) print_(std::to_string(left_out_) + " further connections failed");
    begun_ = now;
    lines_.clear();
    left_out_ = 0;
  }
  if (lines_[error.code] == kMostTroubleLines) {
    ++left_out_;
    return;
  }
  ++lines_[error.code];
  print_((peer.empty() ? "" : peer + ": ") + error.message());
}

}  // namespace steertag::serve
