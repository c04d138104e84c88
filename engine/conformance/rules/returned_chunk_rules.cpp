// Rules on returned chunks: checks and texts.
#include "conformance/rules/returned_chunk_rules.h"

#include "conformance/text.h"
#include "nfs/binding.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

using Segments = std::span<const wire::Segment>;

/// One chunk of the call, and its counterpart in the reply.
struct ReturnedChunk {
  Segments offered;
  Segments returned;
  std::span<const Placed> placed;  // per offered segment
  // index of a write chunk in its list; nothing for the reply chunk
  std::optional<std::size_t> number;

  bool is_write_chunk() const { return number.has_value(); }
  const Rule& echo_rule() const {
    return is_write_chunk() ? kWriteListIsReturned : kReplyChunkIsReturned;
  }
  const Rule& length_rule() const {
    return is_write_chunk() ? kReturnedLengthIsWhatWasPlaced : kReplyChunkLengthIsWhatWasPlaced;
  }
};

/// The possible faults of a returned chunk or of one of its segments.
enum class Wrong : std::uint8_t {
  segment_count,
  handle_or_offset,
  above_offer,    // longer than offered
  out_of_order,   // used although the segment before it is not full
  roundup,        // octets placed after the item
  gap,            // octets missing before the last placed one
  placed_length,  // differs from the number of octets placed
};

struct Defect {
  const Rule* rule = nullptr;  // nullptr: no fault
  Wrong wrong{};
  std::size_t segment = 0;

  explicit operator bool() const { return rule != nullptr; }
};

/// Compares a non-zero returned length with the octets placed.
Defect placement_defect(const ReturnedChunk& chunk, std::size_t segment) {
  const std::uint64_t told = chunk.returned[segment].length;
  const Placed& placed = chunk.placed[segment];
  const bool complete = placed.octets >= told && placed.end >= told;
  if (complete && placed.end == told) return {};
  if (chunk.is_write_chunk()) {
    // RFC 8166 4.3.2.2: octets of a write chunk beyond the returned length may change, except for
    // roundup (3.4.6.2). A reply chunk has no reason to hold more.
    if (complete && (told % 4 == 0 || placed.end != wire::roundup4(told))) return {};
    if (placed.end > told) return {&kNoRoundupInWriteChunks, Wrong::roundup, segment};
  }
  const bool gap = placed.octets < told && placed.end >= told;
  return gap ? Defect{&kSegmentsAreFilledInOrder, Wrong::gap, segment}
             : Defect{&chunk.length_rule(), Wrong::placed_length, segment};
}

/// The first fault of the chunk. Placed octets count only if they are known.
Defect find_defect(const ReturnedChunk& chunk, bool placement_known) {
  const auto& [offered, returned, placed, number] = chunk;
  if (offered.size() != returned.size()) {
    const bool grew = chunk.is_write_chunk() && offered.empty();
    return {grew ? &kEmptyChunkIsReturnedEmpty : &chunk.echo_rule(), Wrong::segment_count, 0};
  }
  // RFC 8166 4.3.2.2: a chunk may be written to and returned unused.
  const bool compare = placement_known && wire::chunk_length(returned) != 0;
  Defect placement;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (offered[i].handle != returned[i].handle || offered[i].offset != returned[i].offset) {
      return {&chunk.echo_rule(), Wrong::handle_or_offset, i};
    }
    if (returned[i].length > offered[i].length) {
      return {&chunk.length_rule(), Wrong::above_offer, i};
    }
    if (i > 0 && returned[i].length > 0 && returned[i - 1].length < offered[i - 1].length) {
      return {&kSegmentsAreFilledInOrder, Wrong::out_of_order, i};
    }
    if (compare && !placement) placement = placement_defect(chunk, i);
  }
  return placement;
}

/// Sets the texts of the finding.
void describe(const ReturnedChunk& chunk, const Defect& defect, Finding& finding) {
  const std::size_t i = defect.segment;
  const std::string name = chunk.number ? say("write chunk ", *chunk.number) : "reply chunk";
  const auto differs = [&](std::string expected, std::string_view observed) {
    finding.expected = std::move(expected);
    finding.observed = say(name, ", segment ", i, ": ", observed);
  };
  switch (defect.wrong) {
    case Wrong::segment_count:
      finding.expected = say(name, " with ", chunk.offered.size(), " segments as offered");
      finding.observed = say(chunk.returned.size(), " segments");
      return;
    case Wrong::handle_or_offset:
      return differs(say("segment ", i, " as offered: ", chunk.offered[i]), say(chunk.returned[i]));
    case Wrong::above_offer:
      return differs(say("at most the ", chunk.offered[i].length, " octets offered"),
                     say(chunk.returned[i]));
    case Wrong::out_of_order:
      return differs(
          say("no octets before segment ", i - 1, " holds its ", chunk.offered[i - 1].length),
          say(chunk.returned[i].length, " octets, and ", chunk.returned[i - 1].length,
              " in segment ", i - 1));
    case Wrong::roundup:
      return differs(
          say("the item's ", chunk.returned[i].length, " octets and nothing behind them"),
          say(chunk.placed[i].end, " octets placed"));
    case Wrong::gap:
      return differs(say("the octets placed: ", chunk.placed[i].octets),
                     say("length ", chunk.returned[i].length));
    case Wrong::placed_length:
      return differs(say("the octets placed: ", chunk.placed[i].end),
                     say("length ", chunk.returned[i].length));
  }
}

/// RFC 8267 6.4.1 requires an empty chunk where RFC 8166 4.3.2.2 requires an unused one. The call's
/// procedure is not always visible.
bool may_be_empty_for_nfs4(const ReturnedChunk& chunk, const Call& call) {
  if (!chunk.is_write_chunk() || !chunk.returned.empty()) return false;
  return !call.rpc ||
         (call.rpc->program == nfs::kNfsProgram && call.rpc->version == nfs::kNfsVersion4);
}

/// At most one finding per chunk.
void check_chunk(const ReturnedChunk& chunk, const Message& message, const Call& call,
                 Connection& connection) {
  const bool placement_known =
      connection.visibility.rdma_operations && !call.placement_unknown &&
      !connection.direction(trace::other(message.sender)).history_incomplete;
  const Defect defect = find_defect(chunk, placement_known);
  if (!defect) return;
  if (defect.wrong == Wrong::segment_count && may_be_empty_for_nfs4(chunk, call)) return;
  if (Finding* finding = open_finding(*defect.rule, message, connection)) {
    describe(chunk, defect, *finding);
  }
}

/// False if the numbers of write chunks in reply and call differ. They are not compared then.
bool check_chunk_count(const Message& message, const Call& call, Connection& connection) {
  const std::size_t offered = call.header.write_list.size();
  const std::size_t returned = message.header->write_list.size();
  if (returned == offered) return true;
  const Rule& rule = returned > offered ? kNothingElseIsReturned : kWriteListIsReturned;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = say("a write list of ", offered, " chunks as offered");
    finding->observed = say("a write list of ", returned, " chunks");
  }
  return false;
}

/// False if only one of reply and call has a reply chunk.
bool check_reply_chunk_presence(const Message& message, const Call& call, Connection& connection) {
  const wire::Header& header = *message.header;
  if (header.has_reply_chunk == call.header.has_reply_chunk) return true;
  const bool missing = call.header.has_reply_chunk;
  const Rule& rule = missing ? kReplyChunkIsReturned : kNothingElseIsReturned;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = missing ? "the offered reply chunk" : "no reply chunk: none was offered";
    finding->observed = missing ? "no reply chunk"
                                : say("a reply chunk of ", header.reply_chunk.size(), " segments");
  }
  return false;
}

}  // namespace

void check_returned_chunks(const Message& message, const Call& call, Connection& connection) {
  if (!check_chunk_count(message, call, connection)) return;
  const wire::WriteList& offered = call.header.write_list;
  const std::span<const Placed> placed(call.placed);
  std::size_t first = 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto part = placed.subspan(first, offered[i].size());
    first += offered[i].size();
    check_chunk({offered[i], message.header->write_list[i], part, i}, message, call, connection);
  }
  if (!check_reply_chunk_presence(message, call, connection)) return;
  if (!call.header.has_reply_chunk) return;
  check_chunk({call.header.reply_chunk, message.header->reply_chunk, placed.subspan(first), {}},
              message, call, connection);
}

}  // namespace steertag::conformance
