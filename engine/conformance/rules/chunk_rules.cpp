// Rules on chunks: checks and texts.
#include "conformance/rules/chunk_rules.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "conformance/text.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

/// One finding per message, at the first segment that wraps.
class SegmentCheck {
 public:
  SegmentCheck(const Message& message, Connection& connection)
      : message_(message), connection_(connection) {}

  void operator()(const wire::Segment& segment) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - segment.offset;
    if (segment.length == 0 || segment.length - 1 <= most || found_) return;
    found_ = true;
    if (Finding* finding = open_finding(kSegmentEndsInside64Bits, message_, connection_)) {
      finding->expected = "a segment that ends at or before 2^64";
      finding->observed = say(segment);
    }
  }

 private:
  const Message& message_;
  Connection& connection_;
  bool found_ = false;
};

/// A read chunk: all segments of one position.
struct ReadChunk {
  std::uint32_t position = 0;
  std::uint64_t length = 0;
};

/// Walks read chunks by position through the reduced payload stream.
class PositionCheck {
 public:
  PositionCheck(const Message& message, std::uint64_t payload_octets, Connection& connection)
      : message_(message), payload_octets_(payload_octets), connection_(connection) {}

  /// False after a finding.
  bool step(const ReadChunk& chunk) {
    if (chunk.position == 0) return true;  // the payload stream itself
    const bool overlaps = chunk.position < reinserted_;
    if (!overlaps && chunk.position - reinserted_ <= payload_octets_) {
      reinserted_ += wire::roundup4(chunk.length);
      return true;
    }
    if (Finding* finding = open_finding(kPositionIsInsideThePayloadStream, message_, connection_)) {
      finding->expected =
          overlaps ? say("a position of at least ", reinserted_, ", where the chunk before it ends")
                   : say("a position of at most ", reinserted_ + payload_octets_,
                         ", where the payload stream ends");
      finding->observed = say("position ", chunk.position, " with ", chunk.length, " octets");
    }
    return false;
  }

 private:
  const Message& message_;
  std::uint64_t payload_octets_;
  Connection& connection_;
  std::uint64_t reinserted_ = 0;  // octets of earlier chunks with their roundup
};

bool ascending(const std::vector<wire::ReadSegment>& list) {
  return std::is_sorted(list.begin(), list.end(), [](const auto& left, const auto& right) {
    return left.position < right.position;
  });
}

void walk(const std::vector<wire::ReadSegment>& list, PositionCheck& check) {
  for (std::size_t i = 0; i < list.size();) {
    ReadChunk chunk{list[i].position, 0};
    for (; i < list.size() && list[i].position == chunk.position; ++i) {
      chunk.length += list[i].target.length;
    }
    if (!check.step(chunk)) return;
  }
}

}  // namespace

void check_call_chunks(const Message& message, Connection& connection) {
  const wire::Header& header = *message.header;
  SegmentCheck check(message, connection);
  for (const wire::ReadSegment& each : header.read_list) check(each.target);
  for (std::size_t i = 0; i < header.write_list.size(); ++i) {
    for (const wire::Segment& each : header.write_list[i]) check(each);
  }
  for (const wire::Segment& each : header.reply_chunk) check(each);

  if (header.read_list.empty()) return;
  const std::uint64_t payload_octets =
      message.inline_payload() ? message.payload.size() : position_zero_length(header).value_or(0);
  PositionCheck positions(message, payload_octets, connection);
  if (ascending(header.read_list)) return walk(header.read_list, positions);
  // RFC 8166 3.4.5 requires no order. Unordered lists are rare, so they are copied.
  std::vector<wire::ReadSegment> sorted = header.read_list;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
    return left.position < right.position;
  });
  walk(sorted, positions);
}

void check_reply_read_list(const Message& message, Connection& connection) {
  const std::vector<wire::ReadSegment>& list = message.header->read_list;
  if (list.empty()) return;
  if (Finding* finding = open_finding(kReplyHasNoReadList, message, connection)) {
    finding->expected = "an empty read list";
    finding->observed = say("a read list of ", list.size(), " segments, first position ",
                            list[0].position, " ", list[0].target);
  }
}

}  // namespace steertag::conformance
