// The limit, notes, and the order of packets in a file.
#include "trace/capture.h"

#include <algorithm>

#include "trace/pcapng.h"

namespace steertag::trace {
namespace {

// The overhead of a piece of payload, so that the limit also covers single octets.
constexpr std::size_t kPieceCost = 64;

void build(const CapturedPacket& packet, Bytes& octets) {
  if (const auto* segment = std::get_if<TcpSegment>(&packet.content))
    build_tcp_packet(packet.from, packet.to, *segment, octets);
  else
    build_udp_packet(packet.from, packet.to, packet.datagram(), octets);
}

}  // namespace

void Capture::annotate(std::int64_t time_ns, Role sender, std::string text) {
  if (notes_.size() < kMaxCaptureNotes) notes_.push_back({time_ns, sender, std::move(text)});
}

bool Capture::admit(std::size_t bytes, std::size_t pieces) {
  const std::size_t used = kept_bytes() + pieces * kPieceCost;
  if (dropped_ == 0 && used <= limit_bytes_ && bytes + kPieceCost <= limit_bytes_ - used)
    return true;
  dropped_ += bytes;
  return false;
}

std::int64_t Capture::monotonic(std::int64_t time_ns) {
  last_time_ns_ = std::max(last_time_ns_, time_ns);
  return last_time_ns_;
}

std::vector<CapturedPacket> Capture::packets() const {
  std::vector<CapturedPacket> packets = plan();
  if (packets.empty()) return packets;
  attach_notes(packets);
  if (dropped_ != 0)
    packets.back().comments.push_back("Capture ends here: its limit of " +
                                      std::to_string(limit_bytes_) + " octets was reached, " +
                                      std::to_string(dropped_) + " octets were not kept.");
  return packets;
}

void Capture::attach_notes(std::vector<CapturedPacket>& packets) const {
  for (const Note& note : notes_) {
    CapturedPacket* target = &packets.front();
    for (CapturedPacket& packet : packets) {
      if (packet.time_ns > note.time_ns) break;
      if (packet.sender == note.sender) target = &packet;
    }
    target->comments.push_back(note.text);
  }
}

void write_captures(std::ostream& out, std::span<const Capture* const> captures,
                    const CaptureFileOptions& options) {
  struct Cursor {
    std::vector<CapturedPacket> packets;
    std::size_t next = 0;
  };
  std::vector<Cursor> cursors;
  for (const Capture* capture : captures) cursors.push_back({capture->packets()});

  PcapngWriter writer(out, "steertag", options.comments);
  const std::uint32_t interface = writer.add_interface(LinkType::raw_ip, kOwnInterface);
  Bytes octets;
  for (bool first = true;; first = false) {  // the loop ends: each turn consumes one packet
    Cursor* earliest = nullptr;
    for (Cursor& cursor : cursors) {
      if (cursor.next == cursor.packets.size()) continue;
      if (earliest == nullptr ||
          cursor.packets[cursor.next].time_ns < earliest->packets[earliest->next].time_ns)
        earliest = &cursor;
    }
    if (earliest == nullptr) break;
    CapturedPacket& packet = earliest->packets[earliest->next++];
    if (first)
      packet.comments.insert(packet.comments.begin(), options.comments.begin(),
                             options.comments.end());
    build(packet, octets);
    writer.add_packet(interface, packet.time_ns + options.clock_offset_ns, octets, packet.comments);
  }
}

}  // namespace steertag::trace
