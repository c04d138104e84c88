// Mutations of chunk lists as a reply returns them.
#include "mutate/returned_list_mutation.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::mutate {

namespace {

using wire::Draft;
using wire::DraftChunk;
using wire::Segment;

constexpr Segment kNowhere{0x7e570001, 64, std::uint64_t{1} << 33};

DraftChunk chunk_of(const Segment& segment) {
  DraftChunk chunk;
  chunk.segments = {segment};
  return chunk;
}

bool drop_write_list(Draft& draft) {
  if (draft.write_list.empty()) return false;
  draft.write_list.clear();
  return true;
}

bool drop_reply_chunk(Draft& draft) {
  if (!draft.reply_chunk) return false;
  draft.reply_chunk.reset();
  return true;
}

bool invent_write_list(Draft& draft) {
  draft.write_list.push_back(chunk_of(kNowhere));
  return true;
}

bool invent_reply_chunk(Draft& draft) {
  if (draft.reply_chunk) return false;
  draft.reply_chunk = chunk_of(kNowhere);
  return true;
}

bool invent_read_list(Draft& draft) {
  wire::DraftReadEntry entry;
  entry.segment = {static_cast<std::uint32_t>(draft.payload.size()), kNowhere};
  draft.read_list.push_back(entry);
  return true;
}

/// `change(Segment&)` for all segments of the write list.
template <void (*kChange)(Segment&)>
bool change_all(Draft& draft) {
  const std::vector<DraftChunk> before = draft.write_list;
  for (DraftChunk& chunk : draft.write_list) std::ranges::for_each(chunk.segments, kChange);
  return draft.write_list != before;
}

/// `change(Segment&)` for the first segment of the first write chunk.
template <void (*kChange)(Segment&)>
bool change_first(Draft& draft) {
  if (draft.write_list.empty() || draft.write_list.front().segments.empty()) return false;
  kChange(draft.write_list.front().segments.front());
  return true;
}

void clear_length(Segment& segment) {
  segment.length = 0;
}
void flip_handle(Segment& segment) {
  segment.handle ^= 1;
}
void clear_offset(Segment& segment) {
  segment.offset = 0;
}
void round_length_up(Segment& segment) {
  segment.length = static_cast<std::uint32_t>(wire::roundup4(segment.length));
}
void decrease_length(Segment& segment) {
  --segment.length;
}
void halve_length(Segment& segment) {
  segment.length /= 2;
}
void double_length(Segment& segment) {
  segment.length *= 2;
}
void increase_offset(Segment& segment) {
  ++segment.offset;
}
void fill_offset(Segment& segment) {
  segment.offset = ~std::uint64_t{0};
}

template <bool (*kIsDropped)(const DraftChunk&)>
bool drop_chunks(Draft& draft) {
  return std::erase_if(draft.write_list, kIsDropped) > 0;
}

bool is_unused(const DraftChunk& chunk) {
  return !chunk.segments.empty() && wire::chunk_length(chunk.segments) == 0;
}
bool is_empty(const DraftChunk& chunk) {
  return chunk.segments.empty();
}

bool keep_first_segments(Draft& draft) {
  const std::vector<DraftChunk> before = draft.write_list;
  for (DraftChunk& chunk : draft.write_list) {
    if (chunk.segments.size() > 1) chunk.segments.resize(1);
  }
  return draft.write_list != before;
}

/// `change(segments)` for the first write chunk.
template <void (*kChange)(std::vector<Segment>&)>
bool change_first_chunk(Draft& draft) {
  if (draft.write_list.empty() || draft.write_list.front().segments.empty()) return false;
  kChange(draft.write_list.front().segments);
  return true;
}

void drop_last(std::vector<Segment>& segments) {
  segments.pop_back();
}
void double_last(std::vector<Segment>& segments) {
  segments.push_back(Segment(segments.back()));
}
void split_last(std::vector<Segment>& segments) {
  Segment rest = segments.back();
  const std::uint32_t half = rest.length / 2;
  segments.back().length = half;
  rest.offset += half;
  rest.length -= half;
  segments.push_back(rest);
}

/// Each length is larger than its segment, and the sum is right in 32 bits.
void wrap_lengths(std::vector<Segment>& segments) {
  constexpr std::uint32_t kHalfOfAll = std::uint32_t{1} << 31;
  if (segments.size() == 1) split_last(segments);
  segments[0].length += kHalfOfAll;
  segments[1].length += kHalfOfAll;
}

/// `change(segments)` for the reply chunk.
template <void (*kChange)(std::vector<Segment>&)>
bool change_reply_chunk(Draft& draft) {
  if (!draft.reply_chunk || draft.reply_chunk->segments.empty()) return false;
  kChange(draft.reply_chunk->segments);
  return true;
}

/// `change(Segment&)` as a change of a chunk: for its first segment.
template <void (*kChange)(Segment&)>
void of_first(std::vector<Segment>& segments) {
  kChange(segments.front());
}

bool move_reply_chunk(Draft& draft) {
  if (!draft.reply_chunk || draft.reply_chunk->segments.empty()) return false;
  draft.reply_chunk->segments.front().offset += 4;
  return true;
}

constexpr Mutation kReturnedListMutations[] = {
    {"write-list.absent", drop_write_list},
    {"reply-chunk.absent", drop_reply_chunk},
    {"write-list.invented", invent_write_list},
    {"reply-chunk.invented", invent_reply_chunk},
    {"read-list.invented", invent_read_list},
    {"write-list.unused", change_all<clear_length>},
    {"write-list.handles-differ", change_all<flip_handle>},
    {"write-list.offsets-0", change_all<clear_offset>},
    {"write-list.lengths-rounded-up", change_all<round_length_up>},
    {"write-list.without-unused-chunks", drop_chunks<is_unused>},
    {"write-list.without-empty-chunks", drop_chunks<is_empty>},
    {"write-list.first-segments-only", keep_first_segments},
    {"write-chunk.last-segment-dropped", change_first_chunk<drop_last>},
    {"write-chunk.last-segment-doubled", change_first_chunk<double_last>},
    {"write-chunk.last-segment-split", change_first_chunk<split_last>},
    {"write-chunk.length-minus-1", change_first<decrease_length>},
    {"write-chunk.length-halved", change_first<halve_length>},
    {"write-chunk.length-doubled", change_first<double_length>},
    {"write-chunk.lengths-wrap", change_first_chunk<wrap_lengths>},
    {"write-chunk.offset-plus-1", change_first<increase_offset>},
    {"write-chunk.offset-all-ones", change_first<fill_offset>},
    {"reply-chunk.length-minus-1", change_reply_chunk<of_first<decrease_length>>},
    {"reply-chunk.length-halved", change_reply_chunk<of_first<halve_length>>},
    {"reply-chunk.length-doubled", change_reply_chunk<of_first<double_length>>},
    {"reply-chunk.lengths-wrap", change_reply_chunk<wrap_lengths>},
    {"reply-chunk.offset-plus-4", move_reply_chunk},
};

}  // namespace

MutationTable returned_list_mutations() {
  return {kReturnedListMutations, {}};
}

}  // namespace steertag::mutate
