// Messages that fill the inline threshold with list entries.
#include "mutate/flood.h"

#include <algorithm>

namespace steertag::mutate {

namespace {

constexpr std::size_t kWriteChunkBytes = 8;  // presence word and count
constexpr std::size_t kReadEntryBytes = 4 + wire::kReadSegmentBytes;

std::size_t encoded_size(const wire::Draft& draft) {
  Bytes out;
  wire::encode(draft, out);
  return out.size();
}

/// How many entries of `each` octets still fit; the limit keeps them decodable.
std::size_t room(const wire::Draft& draft, std::size_t inline_bytes, std::size_t each) {
  const std::size_t used = encoded_size(draft);
  if (used >= inline_bytes) return 0;
  return std::min((inline_bytes - used) / each, wire::kMostSegments / 2);
}

void add(const char* name, wire::Draft draft, std::size_t entries, std::vector<Variant>& result) {
  if (entries == 0) return;
  result.push_back(variant(name, std::move(draft), Expectation::survive));
}

void add_write_floods(const wire::Draft& draft, std::size_t inline_bytes,
                      std::vector<Variant>& result) {
  wire::DraftChunk chunk;
  const bool has_segment = !draft.write_list.empty() && !draft.write_list.front().segments.empty();
  chunk.segments = {has_segment ? draft.write_list.front().segments.front() : wire::Segment{}};

  wire::Draft empty = draft;
  const std::size_t empties = room(draft, inline_bytes, kWriteChunkBytes);
  empty.write_list.insert(empty.write_list.end(), empties, wire::DraftChunk{});
  add("flood.empty-write-chunks", std::move(empty), empties, result);

  wire::Draft chunks = draft;
  const std::size_t most = room(draft, inline_bytes, kWriteChunkBytes + wire::kSegmentBytes);
  chunks.write_list.insert(chunks.write_list.end(), most, chunk);
  add("flood.write-chunks", std::move(chunks), most, result);

  wire::Draft one = draft;
  if (one.write_list.empty()) one.write_list.emplace_back();
  const std::size_t segments = room(one, inline_bytes, wire::kSegmentBytes);
  auto& target = one.write_list.front().segments;
  target.insert(target.end(), segments, chunk.segments.front());
  add("flood.write-segments", std::move(one), segments, result);
}

}  // namespace

std::vector<Variant> floods(const wire::Draft& draft, std::size_t inline_bytes) {
  std::vector<Variant> result;
  wire::Draft read = draft;
  const std::size_t reads = room(draft, inline_bytes, kReadEntryBytes);
  const wire::DraftReadEntry entry =
      draft.read_list.empty() ? wire::DraftReadEntry{} : draft.read_list.front();
  read.read_list.insert(read.read_list.end(), reads, entry);
  add("flood.read-segments", std::move(read), reads, result);

  add_write_floods(draft, inline_bytes, result);

  wire::Draft reply = draft;
  if (!reply.reply_chunk) reply.reply_chunk.emplace();
  const std::size_t segments = room(reply, inline_bytes, wire::kSegmentBytes);
  auto& target = reply.reply_chunk->segments;
  target.insert(target.end(), segments, target.empty() ? wire::Segment{} : target.front());
  add("flood.reply-segments", std::move(reply), segments, result);
  return result;
}

}  // namespace steertag::mutate
