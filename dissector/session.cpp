// Feeds packets to the engine and keeps its exceptions from Wireshark.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/session.h"

#include <exception>

namespace steertag::dissector {

void Session::read(const capture::Packet& packet) noexcept {
  if (broken_) return;
  try {
    store_.begin(static_cast<std::uint32_t>(packet.place.frame));
    reader_.read(packet);
  } catch (const std::exception&) {
    broken_ = true;
  }
}

void Session::finish() noexcept {
  if (broken_) return;
  try {
    reader_.finish();
  } catch (const std::exception&) {
    broken_ = true;
  }
}

}  // namespace steertag::dissector
