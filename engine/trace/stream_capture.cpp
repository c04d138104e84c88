// Frames the recorded octets, plans the packets of a TCP connection, and writes them.
#include "trace/stream_capture.h"

#include <algorithm>

#include "trace/pcapng.h"

namespace steertag::trace {
namespace {

// Initial sequence numbers, different to distinguish the directions in raw packets.
constexpr std::array<std::uint32_t, 2> kInitialSequence = {0x10000000, 0x50000000};
// The overhead of a unit or note, so that the limit also covers single octets.
constexpr std::size_t kUnitCost = 64;

}  // namespace

StreamCapture::StreamCapture(const CaptureEndpoints& endpoints, std::size_t limit_bytes)
    : endpoints_(endpoints), limit_bytes_(limit_bytes) {}

void StreamCapture::on_bytes(std::int64_t time_ns, Role sender, View bytes) {
  Half& from = half(sender);
  if (bytes.empty() || from.ended || reset_) return;
  if (dropped_ != 0 || !fits(bytes.size())) {
    dropped_ += bytes.size();
    return;
  }
  time_ns = monotonic(time_ns);
  if (from.framed == from.stream.size()) {
    from.waiting_since = units_.size();
    from.waiting_time_ns = time_ns;
  }
  from.stream.insert(from.stream.end(), bytes.begin(), bytes.end());
  frame(time_ns, sender);
}

void StreamCapture::on_end(std::int64_t time_ns, Role sender, bool clean) {
  Half& from = half(sender);
  if (from.ended || reset_) return;
  time_ns = monotonic(time_ns);
  const std::size_t inserted = insert_rest(units_, sender);
  Half& to = half(other(sender));
  if (to.waiting_since > from.waiting_since) to.waiting_since += inserted;
  from.framed = from.stream.size();
  from.ended = true;
  reset_ = !clean;
  units_.push_back({time_ns, sender, clean ? kFin : kRst, from.stream.size(), 0});
}

void StreamCapture::annotate(std::int64_t time_ns, Role sender, std::string text) {
  if (notes_.size() < kMaxCaptureNotes) notes_.push_back({time_ns, sender, std::move(text)});
}

std::size_t StreamCapture::kept_bytes() const {
  return halves_[0].stream.size() + halves_[1].stream.size();
}

bool StreamCapture::fits(std::size_t bytes) const {
  const std::size_t used = kept_bytes() + units_.size() * kUnitCost;
  return used <= limit_bytes_ && bytes + kUnitCost <= limit_bytes_ - used;
}

std::int64_t StreamCapture::monotonic(std::int64_t time_ns) {
  last_time_ns_ = std::max(last_time_ns_, time_ns);
  return last_time_ns_;
}

void StreamCapture::frame(std::int64_t time_ns, Role sender) {
  Half& from = half(sender);
  while (from.framed < from.stream.size()) {  // the loop ends: every unit has at least one octet
    const View pending = View(from.stream).subspan(from.framed);
    const auto length = from.framing.unit_length(pending);
    if (!length || *length > pending.size()) break;
    from.framing.take(pending.first(*length));
    if (from.framing.wants_markers()) half(other(sender)).framing.lose();
    for (std::size_t done = 0; done < *length; done += kMaxSegmentBytes)
      units_.push_back(
          {time_ns, sender, 0, from.framed + done, std::min(*length - done, kMaxSegmentBytes)});
    from.framed += *length;
    from.waiting_since = units_.size();
    from.waiting_time_ns = time_ns;
  }
}

// Octets outside any unit are placed where they started.
std::size_t StreamCapture::insert_rest(std::vector<Unit>& units, Role sender) const {
  const Half& from = half(sender);
  std::vector<Unit> rest;
  for (std::size_t at = from.framed; at < from.stream.size(); at += kMaxSegmentBytes)
    rest.push_back(
        {from.waiting_time_ns, sender, 0, at, std::min(from.stream.size() - at, kMaxSegmentBytes)});
  units.insert(units.begin() + static_cast<std::ptrdiff_t>(from.waiting_since), rest.begin(),
               rest.end());
  return rest.size();
}

std::vector<StreamCapture::Unit> StreamCapture::whole_units() const {
  std::vector<Unit> units = units_;
  // The later place first, so that the earlier one stays valid.
  const bool client_later = half(Role::client).waiting_since >= half(Role::server).waiting_since;
  const Role later = client_later ? Role::client : Role::server;
  insert_rest(units, later);
  insert_rest(units, other(later));
  return units;
}

std::vector<StreamCapture::Packet> StreamCapture::packets() const {
  const std::vector<Unit> units = whole_units();
  std::vector<Packet> packets;
  if (units.empty()) return packets;
  packets.reserve(units.size() + 4);
  std::array<std::uint32_t, 2> next = kInitialSequence;
  const auto add = [&](std::int64_t time_ns, Role sender, std::uint8_t flags, View payload) {
    std::uint32_t& sequence = next[static_cast<std::size_t>(sender)];
    const std::uint32_t peer = next[static_cast<std::size_t>(other(sender))];
    const bool ack = (flags & kAck) != 0;
    packets.push_back({time_ns, sender, {sequence, ack ? peer : 0, flags, payload}, {}});
    sequence += static_cast<std::uint32_t>(payload.size());
    if ((flags & (kSyn | kFin)) != 0) ++sequence;
  };
  const std::int64_t start = units.front().time_ns;
  add(start, Role::client, kSyn, {});
  add(start, Role::server, kSyn | kAck, {});
  add(start, Role::client, kAck, {});
  std::size_t fins = 0;
  for (const Unit& unit : units) {
    const View payload = View(half(unit.sender).stream).subspan(unit.begin, unit.length);
    const std::uint8_t push = unit.length != 0 ? kPsh : 0;
    add(unit.time_ns, unit.sender, unit.end_flag | push | kAck, payload);
    if (unit.end_flag == kFin && ++fins == 2) add(unit.time_ns, other(unit.sender), kAck, {});
  }
  attach_notes(packets);
  if (dropped_ != 0)
    packets.back().comments.push_back("Capture ends here: its limit of " +
                                      std::to_string(limit_bytes_) + " octets was reached, " +
                                      std::to_string(dropped_) + " octets were not kept.");
  return packets;
}

void StreamCapture::attach_notes(std::vector<Packet>& packets) const {
  for (const Note& note : notes_) {
    Packet* target = &packets.front();
    for (Packet& packet : packets) {
      if (packet.time_ns > note.time_ns) break;
      if (packet.sender == note.sender) target = &packet;
    }
    target->comments.push_back(note.text);
  }
}

void write_captures(std::ostream& out, std::span<const StreamCapture* const> captures,
                    const CaptureFileOptions& options) {
  struct Cursor {
    const StreamCapture* capture;
    std::vector<StreamCapture::Packet> packets;
    std::size_t next = 0;
  };
  std::vector<Cursor> cursors;
  for (const StreamCapture* capture : captures) cursors.push_back({capture, capture->packets()});

  PcapngWriter writer(out, "steertag", options.comments);
  const std::uint32_t interface = writer.add_interface(LinkType::raw_ip, "steertag");
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
    StreamCapture::Packet& packet = earliest->packets[earliest->next++];
    if (first)
      packet.comments.insert(packet.comments.begin(), options.comments.begin(),
                             options.comments.end());
    const CaptureEndpoints& ends = earliest->capture->endpoints();
    const bool from_client = packet.sender == Role::client;
    build_tcp_packet(from_client ? ends.client : ends.server,
                     from_client ? ends.server : ends.client, packet.segment, octets);
    writer.add_packet(interface, packet.time_ns + options.clock_offset_ns, octets, packet.comments);
  }
}

}  // namespace steertag::trace
