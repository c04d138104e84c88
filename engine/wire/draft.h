// A message that may be illegal in any way.
//
// Presence words, counts, versions and lengths are plain fields that need not agree with the
// content. A hostile case changes a field.
#pragma once

#include <optional>

#include "wire/header.h"

namespace steertag::wire {

/// One presence word and its element. The element is written for any value of the word, unless
/// `omit_body` is set.
struct DraftReadEntry {
  std::uint32_t presence = 1;
  ReadSegment segment;
  bool omit_body = false;
  bool operator==(const DraftReadEntry&) const = default;
};

struct DraftChunk {
  std::uint32_t presence = 1;
  std::optional<std::uint32_t> count;  // nothing: the real number of segments
  std::vector<Segment> segments;
  bool omit_body = false;  // writes only the presence word
  bool operator==(const DraftChunk&) const = default;
};

/// A message that may be illegal. `encode` writes in this order: fixed words, the procedure's body
/// as `proc` requires (an unknown value is laid out as RDMA_MSG), `payload`. `cut_to` and `append`
/// then change the result.
struct Draft {
  std::uint32_t xid = 0;
  std::uint32_t vers = kVersion;
  std::uint32_t credit = 1;
  std::uint32_t proc = 0;

  std::uint32_t align = 0;
  std::uint32_t thresh = 0;
  std::uint32_t error = 2;
  std::uint32_t vers_low = 1;
  std::uint32_t vers_high = 1;

  std::vector<DraftReadEntry> read_list;
  std::uint32_t read_list_end = 0;
  std::vector<DraftChunk> write_list;
  std::uint32_t write_list_end = 0;
  std::optional<DraftChunk> reply_chunk;  // nothing: `reply_chunk_absent` is written
  std::uint32_t reply_chunk_absent = 0;

  Bytes payload;
  std::optional<std::size_t> cut_to;  // truncate the whole message to this many octets
  Bytes append;                       // written after the truncation

  static Draft from(const Header& header, View payload);
  bool operator==(const Draft&) const = default;
};

/// Appends the message to `out`. Never fails: anything can be written.
void encode(const Draft& draft, Bytes& out);

/// Reads any octets back as a draft. Never fails, and `encode(draft_of(message))` equals `message`.
/// Reading stops at the first word that contradicts the format. That word is still a field (a
/// list's end, a count), `cut_to` ends after it, and `append` has the octets that follow.
Draft draft_of(View message);

/// A field of an encoded message: its offset, its length, and its name in the RFC.
struct FieldSpan {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string_view name;
};

/// All field boundaries of the transport header that `encode(draft)` writes (before `cut_to`), in
/// order. Truncation cases cut there.
std::vector<FieldSpan> fields(const Draft& draft);

}  // namespace steertag::wire
