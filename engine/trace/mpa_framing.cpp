// Computes the length of MPA startup frames (RFC 5044 7.1) and FPDUs (RFC 5044 4).
#include "trace/mpa_framing.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "support/roundup.h"

namespace steertag::trace {
namespace {

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
constexpr std::size_t kStartupBytes = 20;  // key, flags, revision, PD_Length
constexpr std::byte kMarkerFlag{0x80};
constexpr std::size_t kMaxPrivateData = 512;  // RFC 5044 7.1
constexpr std::size_t kMaxUlpdu = 64768;      // RFC 5044 4.1: 64 KiB less headers and markers

std::size_t read16(View octets, std::size_t at) {
  return std::to_integer<std::size_t>(octets[at]) << 8 |
         std::to_integer<std::size_t>(octets[at + 1]);
}

bool begins_with(View octets, std::string_view key) {
  return std::memcmp(octets.data(), key.data(), std::min(octets.size(), key.size())) == 0;
}

}  // namespace

std::optional<std::size_t> MpaFraming::unit_length(View pending) const {
  switch (state_) {
    case State::startup: {
      if (!begins_with(pending, kRequestKey) && !begins_with(pending, kReplyKey))
        return pending.size();
      if (pending.size() < kStartupBytes) return std::nullopt;
      const std::size_t private_data = read16(pending, kStartupBytes - 2);
      if (private_data > kMaxPrivateData) return pending.size();
      return kStartupBytes + private_data;
    }
    case State::fpdus: {
      if (pending.size() < 2) return std::nullopt;
      const std::size_t ulpdu = read16(pending, 0);
      if (ulpdu > kMaxUlpdu) return pending.size();
      return roundup4(2 + ulpdu) + 4;
    }
    case State::lost:
      break;
  }
  return pending.size();
}

void MpaFraming::take(View unit) {
  if (state_ == State::startup) {
    const bool framed = unit.size() >= kStartupBytes &&
                        (begins_with(unit, kRequestKey) || begins_with(unit, kReplyKey)) &&
                        unit.size() == kStartupBytes + read16(unit, kStartupBytes - 2);
    if (framed) wants_markers_ = (unit[kRequestKey.size()] & kMarkerFlag) != std::byte{0};
    state_ = framed ? State::fpdus : State::lost;
  } else if (state_ == State::fpdus && (unit.size() < 2 || read16(unit, 0) > kMaxUlpdu)) {
    state_ = State::lost;
  }
}

}  // namespace steertag::trace
