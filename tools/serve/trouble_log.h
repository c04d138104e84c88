// Tells the administrator of connections that failed, without letting a client fill the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "endpoint/deadline_clock.h"
#include "net/error.h"

namespace steertag::serve {

/// Lines of one kind of error in one kTroubleInterval; the others are counted in one line
/// afterwards. Enough to see what goes wrong, and at most some megabytes a day. A client that
/// causes one kind hides no other.
inline constexpr std::size_t kMostTroubleLines = 20;
inline constexpr std::chrono::seconds kTroubleInterval{60};

class TroubleLog {
 public:
  TroubleLog(std::function<void(const std::string& line)> print, peer::DeadlineClock clock)
      : print_(std::move(print)), clock_(std::move(clock)) {}

  /// `peer` may be empty.
  void tell(const std::string& peer, const net::Error& error);

 private:
  std::function<void(const std::string&)> print_;
  peer::DeadlineClock clock_;
  std::chrono::steady_clock::time_point begun_{};  // of the present interval
  std::map<net::Errc, std::size_t> lines_;
  std::size_t left_out_ = 0;
};

}  // namespace steertag::serve
