// Changes of a connection's state.
#include "conformance/connection_state.h"

namespace steertag::conformance {

namespace {

/// Adds one segment; false when the table is full.
bool add(OfferTable& table, Call& call, OfferKind kind, const wire::Segment& segment) {
  const auto index = static_cast<std::uint32_t>(call.placed.size());
  if (kind != OfferKind::read) call.placed.emplace_back();
  if (segment.length == 0) return true;  // an empty segment offers nothing (RFC 8166 3.4.3)
  const std::optional<std::uint32_t> id =
      table.add({segment.handle, segment.length, segment.offset, kind, call.index, index});
  if (id) call.offers.push_back(*id);
  return id.has_value();
}

}  // namespace

void Direction::offer(Call& call) {
  const std::size_t more = list_entries(call.header);
  call.entries += more;
  entries += more;
  if (call.entries > kMostOffers) {  // again and again under one XID
    blind = true;
    return;
  }
  bool all = true;
  for (const wire::ReadSegment& each : call.header.read_list) {
    all &= add(offers, call, OfferKind::read, each.target);
  }
  for (std::size_t i = 0; i < call.header.write_list.size(); ++i) {
    for (const wire::Segment& each : call.header.write_list[i]) {
      all &= add(offers, call, OfferKind::write, each);
    }
  }
  for (const wire::Segment& each : call.header.reply_chunk) {
    all &= add(offers, call, OfferKind::reply, each);
  }
  if (!all) blind = true;
}

void Direction::settle(Call& call) {
  if (!call.counted) return;
  call.counted = false;
  credits.call_answered();
}

void Direction::retire(Call& call) {
  settle(call);
  for (const std::uint32_t id : call.offers) offers.withdraw(id, call.xid);
  entries -= call.entries;
  calls.erase(call);
}

std::size_t Direction::kept_bytes() const {
  constexpr std::size_t kEntryBytes = sizeof(wire::ReadSegment) + sizeof(Placed);
  return calls.records() * sizeof(Call) + offers.kept_bytes() + entries * kEntryBytes;
}

void Direction::lose_past() {
  const bool was_used = used;
  *this = Direction();  // frees what the tables had grown to
  used = was_used;
  blind = true;
  credits.start(false);
}

void Connection::lose_past() {
  past_lost = true;
  terminated = {};  // what follows may be the next connection between the same ends
  for (Direction& each : directions) each.lose_past();
}

void Connection::begin() {
  if (sends_seen) return;
  sends_seen = true;
  const bool whole = established() && !past_lost;
  for (Direction& each : directions) {
    each.credits.start(whole);
    each.blind = sight_lost || !whole;
  }
  if (established()) negotiated = wire::negotiate(private_data[0], private_data[1]);
}

}  // namespace steertag::conformance
