// Messages with malformed chunk lists: presence words, counts, missing bodies and order.
#include "mutate/list_mutation.h"

#include <algorithm>
#include <iterator>

namespace steertag::mutate {

namespace {

// 2 is the smallest illegal word; 0x01000000 is 1 in the wrong octet order.
constexpr std::uint32_t kPresenceWords[] = {2, 0x01000000, 0x80000000, 0xffffffff};

// Multiplied by 16 octets, these wrap to 0, 16, 0 and 0xfffffff0 in 32 bits. The last is the
// largest word.
constexpr std::uint32_t kHugeCounts[] = {0x10000000, 0x10000001, 0x20000000, 0x0fffffff,
                                         0xffffffff};

std::string chunk_name(std::size_t index) {
  return index == 0 ? "write-chunk" : "write-chunk-" + std::to_string(index + 1);
}

/// Adds variants of the chunk that `chunk_of` finds in a copy of the draft.
template <class ChunkOf>
void add_counts(const wire::Draft& draft, const std::string& name, ChunkOf chunk_of,
                std::vector<Variant>& result) {
  const auto add = [&](const std::string& what, std::uint32_t count) {
    wire::Draft copy = draft;
    chunk_of(copy).count = count;
    result.push_back(variant(name + ".count-" + what, copy, Expectation::survive));
  };
  for (const std::uint32_t count : kHugeCounts) add(value_text(count), count);
  wire::Draft probe = draft;
  const auto count = static_cast<std::uint32_t>(chunk_of(probe).segments.size());
  add("plus-1", count + 1);
  if (count == 0) return;
  if (count > 1) add("minus-1", count - 1);
  add("0", 0);
}

template <class Entry>
std::vector<Entry> doubled(const std::vector<Entry>& entries) {
  std::vector<Entry> result = entries;
  result.insert(result.end(), entries.begin(), entries.end());
  return result;
}

/// Entries 1, 3, 5, ... and then 2, 4, ...: the segments of one chunk are separated.
template <class Entry>
std::vector<Entry> interleaved(const std::vector<Entry>& entries) {
  std::vector<Entry> result;
  for (std::size_t start = 0; start < 2; ++start) {
    for (std::size_t i = start; i < entries.size(); i += 2) result.push_back(entries[i]);
  }
  return result;
}

}  // namespace

std::vector<Variant> presence_words(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (const std::uint32_t word : kPresenceWords) {
    const auto add = [&](const std::string& name, auto&& change) {
      wire::Draft copy = draft;
      change(copy);
      result.push_back(variant(name + value_text(word), copy, Expectation::err_chunk));
    };
    if (!draft.read_list.empty()) {
      add("read-list.presence-", [&](wire::Draft& d) { d.read_list.front().presence = word; });
    }
    add("read-list.end-presence-", [&](wire::Draft& d) { d.read_list_end = word; });
    if (!draft.write_list.empty()) {
      add("write-list.presence-", [&](wire::Draft& d) { d.write_list.front().presence = word; });
    }
    add("write-list.end-presence-", [&](wire::Draft& d) { d.write_list_end = word; });
    if (draft.reply_chunk) {
      add("reply-chunk.presence-", [&](wire::Draft& d) { d.reply_chunk->presence = word; });
    } else {
      add("reply-chunk.presence-", [&](wire::Draft& d) { d.reply_chunk_absent = word; });
    }
  }
  return result;
}

std::vector<Variant> counts(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (std::size_t i = 0; i < draft.write_list.size(); ++i) {
    add_counts(
        draft, chunk_name(i), [i](wire::Draft& d) -> wire::DraftChunk& { return d.write_list[i]; },
        result);
  }
  if (draft.reply_chunk) {
    add_counts(
        draft, "reply-chunk", [](wire::Draft& d) -> wire::DraftChunk& { return *d.reply_chunk; },
        result);
  }
  return result;
}

std::vector<Variant> missing_bodies(const wire::Draft& draft) {
  std::vector<Variant> result;
  wire::Draft read = draft;
  read.read_list.emplace_back().omit_body = true;
  result.push_back(variant("read-list.missing-body", read, Expectation::survive));
  wire::Draft write = draft;
  write.write_list.emplace_back().omit_body = true;
  result.push_back(variant("write-list.missing-body", write, Expectation::survive));
  wire::Draft reply = draft;
  reply.reply_chunk.emplace().omit_body = true;
  result.push_back(variant("reply-chunk.missing-body", reply, Expectation::survive));
  return result;
}

std::vector<Variant> orders(const wire::Draft& draft) {
  std::vector<Variant> result;
  const auto add_read = [&](const char* name, std::vector<wire::DraftReadEntry> entries) {
    if (entries == draft.read_list) return;
    wire::Draft copy = draft;
    copy.read_list = std::move(entries);
    result.push_back(variant(name, copy, Expectation::survive));
  };
  add_read("read-list.reversed", {draft.read_list.rbegin(), draft.read_list.rend()});
  add_read("read-list.interleaved", interleaved(draft.read_list));
  add_read("read-list.doubled", doubled(draft.read_list));
  const auto add_write = [&](const char* name, std::vector<wire::DraftChunk> chunks) {
    if (chunks == draft.write_list) return;
    wire::Draft copy = draft;
    copy.write_list = std::move(chunks);
    result.push_back(variant(name, copy, Expectation::survive));
  };
  add_write("write-list.reversed", {draft.write_list.rbegin(), draft.write_list.rend()});
  add_write("write-list.doubled", doubled(draft.write_list));
  return result;
}

}  // namespace steertag::mutate
