// Findings on returned chunks.
#include "conformance/returned_chunk_rules.h"

#include "conformance/text.h"
#include "nfs/binding.h"

namespace steertag::conformance {

namespace {

using Segments = std::span<const wire::Segment>;

/// RFC 8166 4.3.2.2: octets of a write chunk beyond the returned length may have been modified, as
/// long as they are no roundup (3.4.6.2). A reply chunk has no reason to hold more.
bool placed_well(std::uint64_t told, const Placed& placed, bool write_chunk) {
  if (placed.octets < told || placed.end < told) return false;
  if (!write_chunk) return placed.end == told;
  return told % 4 == 0 || placed.end != ((told + 3) & ~std::uint64_t{3});
}

/// Compares one returned chunk with the offered one. At most one finding per chunk.
class ChunkCheck {
 public:
  ChunkCheck(const Message& message, const Call& call, Connection& connection)
      : message_(message), call_(call), connection_(connection) {}

  void write_chunk(std::size_t number, Segments offered, Segments returned,
                   std::span<const Placed> placed) {
    name_ = say("write chunk ", number);
    check(offered, returned, placed, kWriteListIsReturned, kReturnedLengthIsWhatWasPlaced);
  }

  void reply_chunk(Segments offered, Segments returned, std::span<const Placed> placed) {
    name_ = "reply chunk";
    check(offered, returned, placed, kReplyChunkIsReturned, kReplyChunkLengthIsWhatWasPlaced);
  }

  Finding* open(const Rule& rule) { return open_finding(rule, message_, connection_); }

 private:
  void check(Segments offered, Segments returned, std::span<const Placed> placed,
             const Rule& echo_rule, const Rule& length_rule) {
    if (offered.size() != returned.size()) return wrong_count(offered, returned, echo_rule);
    for (std::size_t i = 0; i < offered.size(); ++i) {
      if (offered[i].handle != returned[i].handle || offered[i].offset != returned[i].offset) {
        return differs(echo_rule, i, say("segment ", i, " as offered: ", offered[i]),
                       say(returned[i]));
      }
      if (returned[i].length > offered[i].length) {
        return differs(length_rule, i, say("at most the ", offered[i].length, " octets offered"),
                       say(returned[i]));
      }
      if (i > 0 && returned[i].length > 0 && returned[i - 1].length < offered[i - 1].length) {
        return differs(
            kSegmentsAreFilledInOrder, i,
            say("no octets before segment ", i - 1, " holds its ", offered[i - 1].length),
            say(returned[i].length, " octets, and ", returned[i - 1].length, " in segment ",
                i - 1));
      }
    }
    if (connection_.visibility.rdma_operations && !connection_.direction(requester()).blind &&
        !call_.murky) {
      check_placed(returned, placed, length_rule);
    }
  }

  void wrong_count(Segments offered, Segments returned, const Rule& echo_rule) {
    // RFC 8267 6.4.1 wants an empty chunk where RFC 8166 4.3.2.2 wants an unused one. What the call
    // was about is not always in sight.
    const bool may_be_nfs4 = !call_.rpc || (call_.rpc->program == nfs::kNfsProgram &&
                                            call_.rpc->version == nfs::kNfsVersion4);
    if (&echo_rule == &kWriteListIsReturned && returned.empty() && may_be_nfs4) return;
    const bool empty = &echo_rule == &kWriteListIsReturned && offered.empty();
    if (Finding* finding = open(empty ? kEmptyChunkIsReturnedEmpty : echo_rule)) {
      finding->expected = say(name_, " with ", offered.size(), " segments as offered");
      finding->observed = say(returned.size(), " segments");
    }
  }

  void check_placed(Segments returned, std::span<const Placed> placed, const Rule& length_rule) {
    const bool unused = wire::chunk_length(returned) == 0;
    // RFC 8166 4.3.2.2: a chunk may be written to and still come back unused.
    if (unused) return;
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const std::uint64_t told = returned[i].length;
      const bool write_chunk = &length_rule == &kReturnedLengthIsWhatWasPlaced;
      if (placed_well(told, placed[i], write_chunk)) continue;
      if (write_chunk && placed[i].end > told) {
        return differs(kNoRoundupInWriteChunks, i,
                       say("the item's ", told, " octets and nothing behind them"),
                       say(placed[i].end, " octets placed"));
      }
      const bool gap = placed[i].octets < told && placed[i].end >= told;
      return differs(gap ? kSegmentsAreFilledInOrder : length_rule, i,
                     say("the octets placed: ", gap ? placed[i].octets : placed[i].end),
                     say("length ", told));
    }
  }

  void differs(const Rule& rule, std::size_t segment, const std::string& expected,
               const std::string& observed) {
    if (Finding* finding = open(rule)) {
      finding->expected = expected;
      finding->observed = say(name_, ", segment ", segment, ": ", observed);
    }
  }

  trace::Role requester() const { return trace::other(message_.sender); }

  const Message& message_;
  const Call& call_;
  Connection& connection_;
  std::string name_;
};

/// Whether the chunk comes back as it has to, decided without building any text.
bool returned_well(Segments offered, Segments returned, std::span<const Placed> placed,
                   bool write_chunk) {
  if (offered.size() != returned.size()) return false;
  const bool unused = wire::chunk_length(returned) == 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const wire::Segment& segment = returned[i];
    if (offered[i].handle != segment.handle || offered[i].offset != segment.offset) return false;
    if (segment.length > offered[i].length) return false;
    if (i > 0 && segment.length > 0 && returned[i - 1].length < offered[i - 1].length) return false;
    if (!unused && !placed_well(segment.length, placed[i], write_chunk)) return false;
  }
  return true;
}

}  // namespace

void check_returned_chunks(const Message& message, const Call& call, Connection& connection) {
  const wire::WriteList& offered = call.header.write_list;
  const wire::WriteList& returned = message.header->write_list;
  ChunkCheck check(message, call, connection);
  if (returned.size() != offered.size()) {
    if (Finding* finding = check.open(returned.size() > offered.size() ? kNothingElseIsReturned
                                                                       : kWriteListIsReturned)) {
      finding->expected = say("a write list of ", offered.size(), " chunks as offered");
      finding->observed = say("a write list of ", returned.size(), " chunks");
    }
    return;
  }
  const std::span<const Placed> placed(call.placed);
  std::size_t first = 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto part = placed.subspan(first, offered[i].size());
    first += offered[i].size();
    if (!returned_well(offered[i], returned[i], part, true)) {
      check.write_chunk(i, offered[i], returned[i], part);
    }
  }

  const wire::Header& header = *message.header;
  if (header.has_reply_chunk != call.header.has_reply_chunk) {
    const bool missing = call.header.has_reply_chunk;
    if (Finding* finding = check.open(missing ? kReplyChunkIsReturned : kNothingElseIsReturned)) {
      finding->expected = missing ? "the offered reply chunk" : "no reply chunk: none was offered";
      finding->observed = missing
                              ? "no reply chunk"
                              : say("a reply chunk of ", header.reply_chunk.size(), " segments");
    }
    return;
  }
  const auto part = placed.subspan(first);
  if (!returned_well(call.header.reply_chunk, header.reply_chunk, part, false)) {
    check.reply_chunk(call.header.reply_chunk, header.reply_chunk, part);
  }
}

}  // namespace steertag::conformance
