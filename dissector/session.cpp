// Passes packets to the engine and catches its exceptions.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/session.h"

#include <exception>

namespace steertag::dissector {

void Session::read(const capture::Packet& packet) noexcept {
  if (stopped_at_ != 0) return;
  latest_ = static_cast<std::uint32_t>(packet.stamp.frame);
  try {
    store_.begin(latest_);
    reader_.read(packet);
  } catch (const std::exception&) {
    stopped_at_ = latest_;
  }
}

void Session::finish() noexcept {
  if (stopped_at_ != 0) return;
  try {
    reader_.finish();
  } catch (const std::exception&) {
    stopped_at_ = latest_;
  }
}

}  // namespace steertag::dissector
