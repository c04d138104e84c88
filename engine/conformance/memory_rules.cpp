// Rules on RDMA operations: checks and texts.
#include "conformance/memory_rules.h"

#include <algorithm>

#include "conformance/text.h"

namespace steertag::conformance {

namespace {

/// At most this many adjacent segments of one STag for one RDMA operation. Beyond it the place of
/// the octets is unknown. Each step searches all segments of the STag. No peer in use offers as
/// many for one operation.
constexpr std::size_t kMostSegmentsPerOperation = 256;

/// The octets of the other side's memory that one operation accesses.
struct Access {
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool read = false;
};

/// The offer at an address: one segment, or several overlapping ones.
struct Place {
  Offer offer;  // the one with the highest end
  std::size_t count = 0;
};

Place find_place(Direction& direction, const Access& access, std::uint64_t at) {
  Place place;
  direction.offers.each(access.stag, [&](const Offer& offer) {
    if ((offer.kind == OfferKind::read) != access.read || !offer.holds(at)) return;
    if (place.count++ == 0 || offer.left(at) > place.offer.left(at)) place.offer = offer;
  });
  return place;
}

/// Marks calls whose placed octets are unknown: those with write or reply segments for which
/// `touched(const Offer&)` holds.
template <class Touched>
void mark_placement_unknown(Direction& direction, const Access& access, Touched touched) {
  direction.offers.each(access.stag, [&](const Offer& offer) {
    if (offer.kind != OfferKind::read && touched(offer)) {
      direction.calls.at(offer.call).placement_unknown = true;
    }
  });
}

void note_placed(Direction& direction, const Offer& offer, std::uint64_t at, std::uint64_t length) {
  Placed& placed = direction.calls.at(offer.call).placed[offer.segment];
  placed.octets += length;
  placed.end = std::max(placed.end, at - offer.offset + length);
}

/// `late`: a finished call offered the memory. `used`: the other side has sent a call.
const Rule& rule_outside(bool read, bool late, bool used) {
  if (!used) return kRequesterIssuesNoRdma;
  if (late) return read ? kReadPrecedesTheReply : kWritePrecedesTheReply;
  return read ? kReadStaysInsideTheOffer : kWriteStaysInsideTheOffer;
}

void report_outside(const trace::Event& event, const Access& access, std::uint64_t at,
                    Connection& connection) {
  Direction& direction = connection.direction(trace::other(event.actor));
  if (direction.history_incomplete) return;
  const std::optional<std::uint32_t> late = direction.offers.withdrawn(access.stag);
  const Rule& rule = rule_outside(access.read, late.has_value(), direction.used);
  Finding* finding = connection.findings.open(rule, event.actor, event.index);
  if (finding == nullptr) return;
  finding->expected =
      say(access.read ? "read" : "write or reply", " segments of outstanding calls only");
  finding->observed = say(access.read ? "RDMA Read" : "RDMA Write", " of ", access.length,
                          " octets at STag ", Hex{access.stag}, " offset ",
                          Hex{access.offset, true}, "; ", Hex{at, true}, " is not on offer");
  if (late) finding->observed += say(" (the call with XID ", Hex{*late}, " that had it is over)");
}

/// Finds the segments of an access and calls `use(direction, place, at, length)` for each. Opens a
/// finding if a part of it is not offered.
template <class Use>
void follow(const trace::Event& event, const Access& access, Connection& connection, Use use) {
  Direction& direction = connection.direction(trace::other(event.actor));
  std::uint64_t at = access.offset;
  std::uint64_t left = access.length;
  for (std::size_t step = 0; left > 0 && step < kMostSegmentsPerOperation; ++step) {
    const Place place = find_place(direction, access, at);
    if (place.count == 0) {
      return report_outside(event, access, at, connection);
    }
    if (place.count > 1 && !access.read) {
      mark_placement_unknown(direction, access,
                             [&](const Offer& offer) { return offer.holds(at); });
    }
    const std::uint64_t part = std::min(left, place.offer.left(at));
    use(direction, place, at, part);
    at += part;
    left -= part;
  }
  if (left > 0 && !access.read) {
    // Any segment of the STag may have received the rest.
    mark_placement_unknown(direction, access, [](const Offer&) { return true; });
  }
}

}  // namespace

void check_write(const trace::Event& event, const trace::RdmaWrite& write, Connection& connection) {
  // RFC 5041 5.2: a zero-length message ignores its steering tag and offset.
  const Access access{write.stag, write.offset, write.length, false};
  follow(event, access, connection,
         [](Direction& direction, const Place& place, std::uint64_t at, std::uint64_t length) {
           note_placed(direction, place.offer, at, length);
         });
}

void check_read(const trace::Event& event, const trace::RdmaRead& read, Connection& connection) {
  const Access access{read.source_stag, read.source_offset, read.length, true};
  Direction& direction = connection.direction(trace::other(event.actor));
  PendingRead pending{0, 0, read.length};
  follow(event, access, connection,
         [&](Direction&, const Place& place, std::uint64_t, std::uint64_t) {
           if (place.count > 1) return;  // the call is unknown
           const Call& call = direction.calls.at(place.offer.call);
           pending.call = call.index;
           pending.serial = call.serial;
         });
  if (pending.serial != 0) ++direction.calls.at(pending.call).pending_reads;
  direction.reads.push(pending);
}

void note_read_response(const trace::Event& event, const trace::RdmaReadResponse& response,
                        Connection& connection) {
  Direction& direction = connection.direction(event.actor);
  direction.responses_seen = true;
  direction.reads.respond(response.length, [&](const PendingRead& read) {
    if (read.serial == 0) return;
    Call* call = direction.calls.at(read.call, read.serial);
    if (call != nullptr && call->pending_reads > 0) --call->pending_reads;
  });
}

void check_invalidated(const trace::Event& event, const trace::MemoryInvalidated& memory,
                       Connection& connection) {
  if (memory.guard_intact) return;
  if (Finding* finding =
          connection.findings.open(kGuardsStayIntact, trace::other(event.actor), event.index)) {
    finding->expected = "guard octets as they were";
    finding->observed = say("octets beside the region of STag ", Hex{memory.stag}, " changed");
  }
}

void check_reads_done(std::uint64_t event, trace::Role responder, const Call& call,
                      Connection& connection) {
  const Direction& direction = connection.direction(trace::other(responder));
  if (call.pending_reads == 0 || !direction.responses_seen || direction.reads.lost()) return;
  if (Finding* finding = connection.findings.open(kReplyAwaitsTheReads, responder, event)) {
    finding->expected = "the responses to all RDMA Reads of the call before its reply";
    finding->observed = say(std::uint64_t{call.pending_reads}, " RDMA Reads of XID ", Hex{call.xid},
                            " without response");
  }
}

}  // namespace steertag::conformance
