// Decodable messages with bad segments: positions, lengths, offsets and handles.
#include "mutate/segment_mutation.h"

namespace steertag::mutate {

namespace {

/// Adds variants of the segment that `segment_of` finds in a copy of the draft.
template <class SegmentOf>
void add_coordinates(const wire::Draft& draft, const std::string& list, SegmentOf segment_of,
                     std::vector<Variant>& result) {
  const auto add = [&](const char* what, auto&& change) {
    wire::Draft copy = draft;
    change(segment_of(copy));
    if (copy == draft) return;
    result.push_back(variant(list + what, copy, Expectation::survive));
  };
  add(".length-0", [](wire::Segment& s) { s.length = 0; });
  add(".length-plus-1", [](wire::Segment& s) { ++s.length; });
  add(".length-0x80000000", [](wire::Segment& s) { s.length = 0x80000000; });
  add(".length-0xffffffff", [](wire::Segment& s) { s.length = 0xffffffff; });
  add(".offset-0", [](wire::Segment& s) { s.offset = 0; });
  add(".offset-wraps", [](wire::Segment& s) { s.offset = UINT64_MAX - s.length / 2; });
  add(".handle-0", [](wire::Segment& s) { s.handle = 0; });
  add(".handle-0xffffffff", [](wire::Segment& s) { s.handle = 0xffffffff; });
  add(".handle-plus-1", [](wire::Segment& s) { ++s.handle; });
}

}  // namespace

std::vector<Variant> positions(const wire::Draft& draft) {
  std::vector<Variant> result;
  if (draft.read_list.empty()) return result;
  const std::uint32_t position = draft.read_list.front().segment.position;
  const auto add = [&](const std::string& what, std::uint32_t value) {
    wire::Draft copy = draft;
    // All segments of the first chunk move, so that it stays one chunk.
    for (wire::DraftReadEntry& entry : copy.read_list) {
      if (entry.segment.position == position) entry.segment.position = value;
    }
    if (copy == draft) return;
    result.push_back(variant("read-list.position-" + what, copy, Expectation::refuse));
  };
  add("plus-1", position + 1);
  add("plus-2", position + 2);
  add("plus-3", position + 3);
  add("plus-4", position + 4);
  add("minus-4", position - 4);
  add("4", 4);
  add("0xfffffffc", 0xfffffffc);
  add("0xffffffff", 0xffffffff);

  wire::Draft advancing = draft;
  std::uint32_t next = position;
  for (wire::DraftReadEntry& entry : advancing.read_list) {
    if (entry.segment.position != position) continue;
    entry.segment.position = next;
    next += entry.segment.target.length;
  }
  if (advancing != draft) {
    result.push_back(variant("read-list.positions-advance", advancing, Expectation::refuse));
  }
  return result;
}

std::vector<Variant> segments(const wire::Draft& draft) {
  std::vector<Variant> result;
  if (!draft.read_list.empty()) {
    add_coordinates(
        draft, "read-list",
        [](wire::Draft& d) -> wire::Segment& { return d.read_list.front().segment.target; },
        result);
    wire::Draft past = draft;
    wire::DraftReadEntry half = past.read_list.front();
    half.segment.target.length = 0x80000000;
    past.read_list.assign(2, half);
    result.push_back(variant("read-list.lengths-past-32-bits", past, Expectation::refuse));
  }
  if (!draft.write_list.empty() && !draft.write_list.front().segments.empty()) {
    add_coordinates(
        draft, "write-chunk",
        [](wire::Draft& d) -> wire::Segment& { return d.write_list.front().segments.front(); },
        result);
  }
  if (draft.reply_chunk && !draft.reply_chunk->segments.empty()) {
    add_coordinates(
        draft, "reply-chunk",
        [](wire::Draft& d) -> wire::Segment& { return d.reply_chunk->segments.front(); }, result);
  }
  return result;
}

}  // namespace steertag::mutate
