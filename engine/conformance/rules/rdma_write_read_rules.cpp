// Rules on RDMA operations: checks and texts.
#include "conformance/rules/rdma_write_read_rules.h"

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

/// The segment at an address, or several overlapping ones.
struct SegmentMatch {
  OfferedSegment segment;  // the one with the highest end
  std::size_t count = 0;
};

SegmentMatch find_segment(Direction& direction, const Access& access, std::uint64_t at) {
  SegmentMatch match;
  direction.segments.each(access.stag, [&](const OfferedSegment& segment) {
    if ((segment.kind == SegmentKind::read) != access.read || !segment.holds(at)) return;
    if (match.count++ == 0 || segment.left(at) > match.segment.left(at)) match.segment = segment;
  });
  return match;
}

/// Marks calls whose placed octets are unknown: those with write or reply segments for which
/// `touched(const OfferedSegment&)` holds.
template <class Touched>
void mark_placement_unknown(Direction& direction, const Access& access, Touched touched) {
  direction.segments.each(access.stag, [&](const OfferedSegment& segment) {
    if (segment.kind != SegmentKind::read && touched(segment)) {
      direction.calls.at(segment.call).placement_unknown = true;
    }
  });
}

void note_placed(Direction& direction, const OfferedSegment& segment, std::uint64_t at,
                 std::uint64_t length) {
  Placed& placed = direction.calls.at(segment.call).placed[segment.placed];
  placed.octets += length;
  placed.end = std::max(placed.end, at - segment.offset + length);
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
  const std::optional<std::uint32_t> late = direction.segments.finished_call(access.stag);
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

/// Finds the segments of an access and calls `use(direction, match, at, length)` for each. Opens a
/// finding if a part of it is not offered.
template <class Use>
void for_each_segment(const trace::Event& event, const Access& access, Connection& connection,
                      Use use) {
  Direction& direction = connection.direction(trace::other(event.actor));
  std::uint64_t at = access.offset;
  std::uint64_t left = access.length;
  for (std::size_t step = 0; left > 0 && step < kMostSegmentsPerOperation; ++step) {
    const SegmentMatch match = find_segment(direction, access, at);
    if (match.count == 0) {
      return report_outside(event, access, at, connection);
    }
    if (match.count > 1 && !access.read) {
      mark_placement_unknown(direction, access,
                             [&](const OfferedSegment& segment) { return segment.holds(at); });
    }
    const std::uint64_t part = std::min(left, match.segment.left(at));
    use(direction, match, at, part);
    at += part;
    left -= part;
  }
  if (left > 0 && !access.read) {
    // Any segment of the STag may have received the rest.
    mark_placement_unknown(direction, access, [](const OfferedSegment&) { return true; });
  }
}

}  // namespace

void check_write_inside_chunks(const trace::Event& event, const trace::RdmaWrite& write,
                               Connection& connection) {
  // RFC 5041 5.2: a zero-length message ignores its steering tag and offset.
  const Access access{write.stag, write.offset, write.length, false};
  for_each_segment(event, access, connection,
                   [](Direction& direction, const SegmentMatch& match, std::uint64_t at,
                      std::uint64_t length) { note_placed(direction, match.segment, at, length); });
}

void check_read_inside_chunks(const trace::Event& event, const trace::RdmaRead& read,
                              Connection& connection) {
  const Access access{read.source_stag, read.source_offset, read.length, true};
  Direction& direction = connection.direction(trace::other(event.actor));
  PendingRead pending{0, 0, read.length};
  for_each_segment(event, access, connection,
                   [&](Direction&, const SegmentMatch& match, std::uint64_t, std::uint64_t) {
                     if (match.count > 1) return;  // the call is unknown
                     const Call& call = direction.calls.at(match.segment.call);
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
