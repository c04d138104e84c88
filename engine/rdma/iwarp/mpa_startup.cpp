// Encoding and incremental decoding of MPA startup frames.
#include "rdma/iwarp/mpa_startup.h"

#include <algorithm>
#include <cstring>

#include "rdma/octets.h"

namespace steertag::rdma::iwarp {
namespace {

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";

// Offsets in the header, after the key.
constexpr std::size_t kFlagsAt = kStartupKeyBytes;
constexpr std::size_t kRevisionAt = kFlagsAt + 1;
constexpr std::size_t kPrivateDataLengthAt = kRevisionAt + 1;

constexpr std::uint8_t kMarkers = 0x80;
constexpr std::uint8_t kCrc = 0x40;
constexpr std::uint8_t kRejected = 0x20;
constexpr std::uint8_t kEnhanced = 0x10;

constexpr std::uint16_t kFirstFlag = 0x8000;
constexpr std::uint16_t kSecondFlag = 0x4000;
constexpr std::uint16_t kDepthMask = 0x3fff;

std::string_view key(StartupKind kind) {
  return kind == StartupKind::request ? kRequestKey : kReplyKey;
}

bool starts_like(std::string_view expected, View so_far) {
  const std::size_t length = std::min(expected.size(), so_far.size());
  return std::memcmp(expected.data(), so_far.data(), length) == 0;
}

// RFC 5044 7.1.1: the bits after R are reserved in revision 1, so S counts from revision 2 on.
bool has_enhanced(std::uint8_t flags, std::uint8_t revision) {
  return revision >= 2 && (flags & kEnhanced) != 0;
}

}  // namespace

std::string_view sentence(StartupFault fault) {
  switch (fault) {
    case StartupFault::bad_key:
      return "the key is not that of an MPA frame (RFC 5044 7.1.1)";
    case StartupFault::wrong_direction:
      return "both ends act in the same MPA role (RFC 5044 7.1.2)";
    case StartupFault::bad_revision:
      return "the MPA revision is neither 1 nor 2 (RFC 6581 6)";
    case StartupFault::private_data_long:
      return "PD_Length exceeds 512 octets (RFC 5044 7.1.1)";
    case StartupFault::enhanced_truncated:
      return "S is set without room for the enhanced data (RFC 6581 6)";
  }
  return "unknown fault";
}

Expected<std::size_t, StartupFault> octets_lacking(StartupKind kind, View so_far) {
  if (!so_far.empty() && !starts_like(key(kind), so_far)) {
    const auto other = kind == StartupKind::request ? StartupKind::reply : StartupKind::request;
    const bool swapped = so_far.size() >= kStartupKeyBytes && starts_like(key(other), so_far);
    return tl::unexpected(swapped ? StartupFault::wrong_direction : StartupFault::bad_key);
  }
  if (so_far.size() < kStartupHeaderBytes) {
    return kStartupHeaderBytes - so_far.size();
  }
  const std::uint8_t flags = load8(so_far.data() + kFlagsAt);
  const std::uint8_t revision = load8(so_far.data() + kRevisionAt);
  const std::size_t length = load16(so_far.data() + kPrivateDataLengthAt);
  if (revision != 1 && revision != 2) {
    return tl::unexpected(StartupFault::bad_revision);
  }
  if (length > kMostPrivateData) {
    return tl::unexpected(StartupFault::private_data_long);
  }
  if (has_enhanced(flags, revision) && length < kEnhancedBytes) {
    return tl::unexpected(StartupFault::enhanced_truncated);
  }
  const std::size_t whole = kStartupHeaderBytes + length;
  return whole > so_far.size() ? whole - so_far.size() : 0;
}

Expected<StartupFrame, StartupFault> decode_startup(StartupKind kind, View frame) {
  const auto lacking = octets_lacking(kind, frame);
  if (!lacking || *lacking != 0) {
    return tl::unexpected(lacking ? StartupFault::bad_key : lacking.error());
  }
  StartupFrame result;
  const std::uint8_t flags = load8(frame.data() + kFlagsAt);
  result.kind = kind;
  result.markers = (flags & kMarkers) != 0;
  result.crc = (flags & kCrc) != 0;
  result.rejected = kind == StartupKind::reply && (flags & kRejected) != 0;
  result.revision = load8(frame.data() + kRevisionAt);
  View data = frame.subspan(kStartupHeaderBytes, load16(frame.data() + kPrivateDataLengthAt));
  if (has_enhanced(flags, result.revision)) {
    const std::uint16_t ird = load16(data.data());
    const std::uint16_t ord = load16(data.data() + 2);
    Enhanced& enhanced = result.enhanced.emplace();
    enhanced.peer_to_peer = (ird & kFirstFlag) != 0;
    // RFC 6581 9.2: without A the other control flags are ignored.
    enhanced.rtr_send = enhanced.peer_to_peer && (ird & kSecondFlag) != 0;
    enhanced.rtr_write = enhanced.peer_to_peer && (ord & kFirstFlag) != 0;
    enhanced.rtr_read = enhanced.peer_to_peer && (ord & kSecondFlag) != 0;
    enhanced.ird = ird & kDepthMask;
    enhanced.ord = ord & kDepthMask;
    data = data.subspan(kEnhancedBytes);
  }
  result.private_data.assign(data.begin(), data.end());
  return result;
}

void set_key(StartupKind kind, MutableView so_far) {
  if (so_far.empty()) {
    return;
  }
  std::memcpy(so_far.data(), key(kind).data(), std::min(so_far.size(), kStartupKeyBytes));
}

Bytes encode(const StartupFrame& frame) {
  const std::size_t words = frame.enhanced ? kEnhancedBytes : 0;
  Bytes out(kStartupHeaderBytes + words + frame.private_data.size());
  std::memcpy(out.data(), key(frame.kind).data(), kStartupKeyBytes);
  store8(out.data() + kFlagsAt,
         static_cast<std::uint8_t>((frame.markers ? kMarkers : 0) | (frame.crc ? kCrc : 0) |
                                   (frame.rejected ? kRejected : 0) |
                                   (frame.enhanced ? kEnhanced : 0)));
  store8(out.data() + kRevisionAt, frame.revision);
  store16(out.data() + kPrivateDataLengthAt,
          static_cast<std::uint16_t>(words + frame.private_data.size()));
  if (frame.enhanced) {
    const Enhanced& enhanced = *frame.enhanced;
    const int ird = (enhanced.peer_to_peer ? kFirstFlag : 0) |
                    (enhanced.rtr_send ? kSecondFlag : 0) | (enhanced.ird & kDepthMask);
    const int ord = (enhanced.rtr_write ? kFirstFlag : 0) | (enhanced.rtr_read ? kSecondFlag : 0) |
                    (enhanced.ord & kDepthMask);
    store16(out.data() + kStartupHeaderBytes, static_cast<std::uint16_t>(ird));
    store16(out.data() + kStartupHeaderBytes + 2, static_cast<std::uint16_t>(ord));
  }
  std::ranges::copy(frame.private_data,
                    out.begin() + static_cast<std::ptrdiff_t>(kStartupHeaderBytes + words));
  return out;
}

}  // namespace steertag::rdma::iwarp
