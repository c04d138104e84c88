// Converts the octets of one iWARP connection to packets of an equivalent TCP connection.
#pragma once

#include <array>
#include <vector>

#include "trace/capture.h"
#include "trace/mpa_framing.h"

namespace steertag::trace {

/// The two ends in the packets. `server` should have port 20049: analysers may take another port
/// for another protocol.
struct CaptureEndpoints {
  Endpoint client;
  Endpoint server;
};

/// Records the octets of one connection until it is written.
///
/// Each MPA startup frame and each FPDU becomes one packet, at the time of its last octet. Other
/// octets become packets as they arrived.
class StreamCapture : public Capture {
 public:
  explicit StreamCapture(const CaptureEndpoints& endpoints,
                         std::size_t limit_bytes = kDefaultCaptureBytes);

  void on_bytes(std::int64_t time_ns, Role sender, View bytes) override;
  void on_end(std::int64_t time_ns, Role sender, bool clean) override;

  const CaptureEndpoints& endpoints() const { return endpoints_; }
  std::size_t kept_bytes() const override;
  /// The recorded octets of `sender`; valid until the capture changes.
  View octets(Role sender) const { return half(sender).stream; }

 private:
  /// The content of one packet: octets of the sender's stream, or its end.
  struct Unit {
    std::int64_t time_ns;
    Role sender;
    std::uint8_t end_flag;  // 0, kFin or kRst
    std::size_t begin;
    std::size_t length;
  };
  struct Half {
    Bytes stream;
    std::size_t framed = 0;         // octets of `stream` that belong to units
    std::size_t waiting_since = 0;  // number of units when the first of the others arrived
    std::int64_t waiting_time_ns = 0;
    MpaFraming framing;
    bool ended = false;
  };

  Half& half(Role role) { return halves_[static_cast<std::size_t>(role)]; }
  const Half& half(Role role) const { return halves_[static_cast<std::size_t>(role)]; }
  /// With handshake and acknowledgments. Empty without traffic.
  std::vector<CapturedPacket> plan() const override;
  void frame(std::int64_t time_ns, Role sender);
  std::size_t insert_rest(std::vector<Unit>& units, Role sender) const;
  std::vector<Unit> whole_units() const;

  CaptureEndpoints endpoints_;
  std::array<Half, 2> halves_;
  std::vector<Unit> units_;
  bool reset_ = false;
};

}  // namespace steertag::trace
