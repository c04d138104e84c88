// Frames the recorded octets, and plans the packets of a TCP connection.
#include "trace/stream_capture.h"

#include <algorithm>

namespace steertag::trace {
namespace {

// Initial sequence numbers, different to distinguish the directions in raw packets.
constexpr std::array<std::uint32_t, 2> kInitialSequence = {0x10000000, 0x50000000};

}  // namespace

StreamCapture::StreamCapture(const CaptureEndpoints& endpoints, std::size_t limit_bytes)
    : Capture(limit_bytes), endpoints_(endpoints) {}

void StreamCapture::on_bytes(std::int64_t time_ns, Role sender, View bytes) {
  Half& from = half(sender);
  if (bytes.empty() || from.ended || reset_) return;
  if (!admit(bytes.size(), units_.size())) return;
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

std::size_t StreamCapture::kept_bytes() const {
  return halves_[0].stream.size() + halves_[1].stream.size();
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

std::vector<CapturedPacket> StreamCapture::plan() const {
  const std::vector<Unit> units = whole_units();
  std::vector<CapturedPacket> packets;
  if (units.empty()) return packets;
  packets.reserve(units.size() + 4);
  std::array<std::uint32_t, 2> next = kInitialSequence;
  const auto add = [&](std::int64_t time_ns, Role sender, std::uint8_t flags, View payload) {
    std::uint32_t& sequence = next[static_cast<std::size_t>(sender)];
    const std::uint32_t peer = next[static_cast<std::size_t>(other(sender))];
    const bool ack = (flags & kAck) != 0;
    const bool from_client = sender == Role::client;
    packets.push_back({time_ns,
                       sender,
                       from_client ? endpoints_.client : endpoints_.server,
                       from_client ? endpoints_.server : endpoints_.client,
                       TcpSegment{sequence, ack ? peer : 0, flags, payload},
                       {}});
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
  return packets;
}

}  // namespace steertag::trace
