// What one connection sent on the wire, kept until it is written as packets.
//
// Writes the packets of several connections as one pcapng file.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trace/event.h"
#include "trace/tcp_packet.h"
#include "trace/udp_packet.h"

namespace steertag::trace {

/// Default memory limit of a capture. A case exchanges far less, and hundreds of cases must be able
/// to run in parallel.
inline constexpr std::size_t kDefaultCaptureBytes = std::size_t{16} << 20;
/// At most this many notes of one capture; further ones are dropped.
inline constexpr std::size_t kMaxCaptureNotes = 256;

/// One packet, ready for building. Its octets are valid until the capture changes.
struct CapturedPacket {
  std::int64_t time_ns = 0;
  Role sender = Role::client;
  Endpoint from;
  Endpoint to;
  std::variant<TcpSegment, UdpDatagram> content;
  std::vector<std::string> comments;

  const TcpSegment& segment() const { return std::get<TcpSegment>(content); }
  const UdpDatagram& datagram() const { return std::get<UdpDatagram>(content); }
};

/// Beyond the limit nothing more is recorded, and the last packet says so.
class Capture : public ByteSink {
 public:
  /// Attaches a comment to the last packet that `sender` sent no later than `time_ns`. Without one,
  /// the connection's first packet gets it.
  void annotate(std::int64_t time_ns, Role sender, std::string text);

  /// Recorded octets of payload, in both directions.
  virtual std::size_t kept_bytes() const = 0;
  /// Octets of payload beyond the limit.
  std::uint64_t dropped_bytes() const { return dropped_; }

  /// The connection's packets in order, with their comments.
  std::vector<CapturedPacket> packets() const;

 protected:
  explicit Capture(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Whether these octets are within the limit, with `pieces` of payload kept before. Those that
  /// are not count as dropped, and so do all later ones.
  bool admit(std::size_t bytes, std::size_t pieces);
  /// The time, or the latest before if that is later.
  std::int64_t monotonic(std::int64_t time_ns);

 private:
  struct Note {
    std::int64_t time_ns;
    Role sender;
    std::string text;
  };

  /// The packets without comments.
  virtual std::vector<CapturedPacket> plan() const = 0;
  void attach_notes(std::vector<CapturedPacket>& packets) const;

  std::size_t limit_bytes_;
  std::vector<Note> notes_;
  std::int64_t last_time_ns_ = 0;
  std::uint64_t dropped_ = 0;
};

/// The interface that captures name. Their packets have the order in which an end took and sent
/// them.
inline constexpr std::string_view kOwnInterface = "steertag";

/// Information for the file besides the packets.
struct CaptureFileOptions {
  /// About the whole file; shown at its head and on its first packet.
  std::vector<std::string> comments;
  /// What to add to the observers' times to get nanoseconds since 1970-01-01 UTC.
  std::int64_t clock_offset_ns = 0;
};

/// Writes one pcapng file with the packets of all connections in the order of their times. The
/// stream's failure state tells whether everything was written.
void write_captures(std::ostream& out, std::span<const Capture* const> captures,
                    const CaptureFileOptions& options);

}  // namespace steertag::trace
