// State changes of a connection.
#include "conformance/connection_state.h"

namespace steertag::conformance {

namespace {

/// Adds one segment; false when the table is full.
bool add(SegmentTable& table, Call& call, SegmentKind kind, const wire::Segment& segment) {
  const auto index = static_cast<std::uint32_t>(call.placed.size());
  if (kind != SegmentKind::read) call.placed.emplace_back();
  if (segment.length == 0) return true;  // an empty segment offers nothing (RFC 8166 3.4.3)
  const std::optional<std::uint32_t> id =
      table.add({segment.handle, segment.length, segment.offset, kind, call.index, index});
  if (id) call.segments.push_back(*id);
  return id.has_value();
}

}  // namespace

void Direction::add_segments(Call& call) {
  const std::size_t more = list_entries(call.header);
  call.entries += more;
  entries += more;
  if (call.entries > kMostOfferedSegments) {  // repeated calls under one XID
    history_incomplete = true;
    return;
  }
  bool all = true;
  for (const wire::ReadSegment& each : call.header.read_list) {
    all &= add(segments, call, SegmentKind::read, each.target);
  }
  for (std::size_t i = 0; i < call.header.write_list.size(); ++i) {
    for (const wire::Segment& each : call.header.write_list[i]) {
      all &= add(segments, call, SegmentKind::write, each);
    }
  }
  for (const wire::Segment& each : call.header.reply_chunk) {
    all &= add(segments, call, SegmentKind::reply, each);
  }
  if (!all) history_incomplete = true;
}

void Direction::release_credit(Call& call) {
  if (!call.counted) return;
  call.counted = false;
  credits.call_answered();
}

void Direction::retire(Call& call) {
  release_credit(call);
  for (const std::uint32_t id : call.segments) segments.remove(id, call.xid);
  entries -= call.entries;
  calls.erase(call);
}

std::size_t Direction::kept_bytes() const {
  constexpr std::size_t kEntryBytes = sizeof(wire::ReadSegment) + sizeof(Placed);
  return calls.records() * sizeof(Call) + segments.kept_bytes() + entries * kEntryBytes;
}

void Direction::forget_history() {
  const bool was_used = used;
  *this = Direction();  // frees the capacity of the tables
  used = was_used;
  history_incomplete = true;
  credits.start(false);
}

void Connection::forget_history() {
  history_lost = true;
  terminated = {};  // the next events may belong to another connection between the same ends
  for (Direction& each : directions) each.forget_history();
}

void Connection::begin() {
  if (sends_seen) return;
  sends_seen = true;
  const bool whole = established() && !history_lost;
  for (Direction& each : directions) {
    each.credits.start(whole);
    each.history_incomplete = observation_lost || !whole;
  }
  if (established()) negotiated = wire::negotiate(private_data[0], private_data[1]);
}

}  // namespace steertag::conformance
