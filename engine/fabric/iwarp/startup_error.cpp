// Sentences about failed startups.
#include "fabric/iwarp/startup_error.h"

#include <algorithm>

#include "fabric/net_names.h"

namespace steertag::fabric::iwarp {
namespace {

constexpr std::size_t kMostPrintable = 20;

std::string name(StartupKind kind) {
  return kind == StartupKind::request ? "MPA request" : "MPA reply";
}

}  // namespace

Error startup_fault(StartupKind kind, StartupFault fault, View got) {
  if (fault == StartupFault::bad_key) {
    return {Errc::protocol_error, "the peer is not an iWARP endpoint: expected an " + name(kind) +
                                      ", got \"" + printable(got) + "\""};
  }
  return {Errc::protocol_error, name(kind) + ": " + std::string(sentence(fault))};
}

Error startup_cut(StartupKind kind, std::size_t have, int code) {
  const std::string what =
      have == 0 ? "no " + name(kind) + " came" : "the " + name(kind) + " is cut";
  return code == 0 ? Error{Errc::peer_closed, what}
                   : Error{Errc::peer_reset, what + ": " + error_text(code)};
}

Error startup_late(StartupKind kind, std::chrono::milliseconds limit) {
  return {Errc::timed_out, "no " + name(kind) + " within " + std::to_string(limit.count()) + " ms"};
}

Error markers_demanded() {
  return {Errc::unsupported, "the peer demands MPA markers (RFC 5044 4.3), which we lack"};
}

std::string printable(View bytes) {
  std::string text;
  for (const std::byte octet : bytes.first(std::min(bytes.size(), kMostPrintable))) {
    const auto c = std::to_integer<char>(octet);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text;
}

}  // namespace steertag::fabric::iwarp
