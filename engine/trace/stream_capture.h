// Converts the octets of one iWARP connection to packets of an equivalent TCP connection.
//
// Writes the packets of several connections as one pcapng file.
#pragma once

#include <array>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "trace/event.h"
#include "trace/mpa_framing.h"
#include "trace/tcp_packet.h"

namespace steertag::trace {

/// Default memory limit of a capture. A case exchanges far less, and hundreds of cases must be able
/// to run in parallel.
inline constexpr std::size_t kDefaultCaptureBytes = std::size_t{16} << 20;
/// At most this many notes of one capture; further ones are dropped.
inline constexpr std::size_t kMaxCaptureNotes = 256;

/// The two ends in the packets. `server` should have port 20049: analysers may take another port
/// for another protocol.
struct CaptureEndpoints {
  Endpoint client;
  Endpoint server;
};

/// Records the octets of one connection until it is written.
///
/// Each MPA startup frame and each FPDU becomes one packet, at the time of its last octet. Other
/// octets become packets as they arrived. Beyond `limit_bytes` nothing more is recorded, and the
/// last packet says so.
class StreamCapture : public ByteSink {
 public:
  explicit StreamCapture(const CaptureEndpoints& endpoints,
                         std::size_t limit_bytes = kDefaultCaptureBytes);

  void on_bytes(std::int64_t time_ns, Role sender, View bytes) override;
  void on_end(std::int64_t time_ns, Role sender, bool clean) override;

  /// Attaches a comment to the last packet that `sender` sent no later than `time_ns`. Without one,
  /// the connection's first packet gets it.
  void annotate(std::int64_t time_ns, Role sender, std::string text);

  const CaptureEndpoints& endpoints() const { return endpoints_; }
  /// Recorded octets of payload, in both directions.
  std::size_t kept_bytes() const;
  /// The recorded octets of `sender`; valid until the capture changes.
  View octets(Role sender) const { return half(sender).stream; }
  /// Octets of payload beyond the limit.
  std::uint64_t dropped_bytes() const { return dropped_; }

  /// One packet, ready for building. Its payload is valid until the capture changes.
  struct Packet {
    std::int64_t time_ns = 0;
    Role sender = Role::client;
    TcpSegment segment;
    std::vector<std::string> comments;
  };
  /// The connection's packets in order, with handshake and acknowledgments. Empty without traffic.
  std::vector<Packet> packets() const;

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
  struct Note {
    std::int64_t time_ns;
    Role sender;
    std::string text;
  };

  Half& half(Role role) { return halves_[static_cast<std::size_t>(role)]; }
  const Half& half(Role role) const { return halves_[static_cast<std::size_t>(role)]; }
  bool fits(std::size_t bytes) const;
  std::int64_t monotonic(std::int64_t time_ns);
  void frame(std::int64_t time_ns, Role sender);
  std::size_t insert_rest(std::vector<Unit>& units, Role sender) const;
  std::vector<Unit> whole_units() const;
  void attach_notes(std::vector<Packet>& packets) const;

  CaptureEndpoints endpoints_;
  std::size_t limit_bytes_;
  std::array<Half, 2> halves_;
  std::vector<Unit> units_;
  std::vector<Note> notes_;
  std::int64_t last_time_ns_ = 0;
  std::uint64_t dropped_ = 0;
  bool reset_ = false;
};

/// Information for the file besides the packets.
struct CaptureFileOptions {
  /// About the whole file; shown at its head and on its first packet.
  std::vector<std::string> comments;
  /// What to add to the observers' times to get nanoseconds since 1970-01-01 UTC.
  std::int64_t clock_offset_ns = 0;
};

/// Writes one pcapng file with the packets of all connections in the order of their times. The
/// stream's failure state tells whether everything was written.
void write_captures(std::ostream& out, std::span<const StreamCapture* const> captures,
                    const CaptureFileOptions& options);

}  // namespace steertag::trace
