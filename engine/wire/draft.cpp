// Encodes drafts, lists their fields, and reads any octets back as a draft.
#include "wire/draft.h"

#include "wire/field_name.h"
#include "wire/xdr.h"

namespace steertag::wire {

namespace {

namespace name = field_name;

/// Visits the fields of a draft's transport header in wire order. `sink` has `u32(name, value)` and
/// `u64(name, value)`.
template <class Sink>
class Walk {
 public:
  explicit Walk(Sink& sink) : sink_(sink) {}

  void header(const Draft& draft) {
    sink_.u32(name::kXid, draft.xid);
    sink_.u32(name::kVers, draft.vers);
    sink_.u32(name::kCredit, draft.credit);
    sink_.u32(name::kProc, draft.proc);
    switch (draft.proc) {
      case static_cast<std::uint32_t>(Procedure::done):
        return;
      case static_cast<std::uint32_t>(Procedure::error):
        error(draft);
        return;
      case static_cast<std::uint32_t>(Procedure::msgp):
        sink_.u32(name::kAlign, draft.align);
        sink_.u32(name::kThresh, draft.thresh);
        break;
      default:
        break;
    }
    lists(draft);
  }

 private:
  void error(const Draft& draft) {
    sink_.u32(name::kErr, draft.error);
    if (draft.error != static_cast<std::uint32_t>(ErrorCode::vers)) return;
    sink_.u32(name::kVersLow, draft.vers_low);
    sink_.u32(name::kVersHigh, draft.vers_high);
  }

  void lists(const Draft& draft) {
    for (const DraftReadEntry& entry : draft.read_list) {
      sink_.u32(name::kReadList.presence, entry.presence);
      if (entry.omit_body) continue;
      sink_.u32(name::kReadList.position, entry.segment.position);
      segment(name::kReadList, entry.segment.target);
    }
    sink_.u32(name::kReadList.presence, draft.read_list_end);
    for (const DraftChunk& each : draft.write_list) chunk(name::kWriteList, each);
    sink_.u32(name::kWriteList.presence, draft.write_list_end);
    if (draft.reply_chunk) {
      chunk(name::kReplyChunk, *draft.reply_chunk);
    } else {
      sink_.u32(name::kReplyChunk.presence, draft.reply_chunk_absent);
    }
  }

  void chunk(const name::List& list, const DraftChunk& chunk) {
    sink_.u32(list.presence, chunk.presence);
    if (chunk.omit_body) return;
    const auto true_count = static_cast<std::uint32_t>(chunk.segments.size());
    sink_.u32(list.count, chunk.count.value_or(true_count));
    for (const Segment& each : chunk.segments) segment(list, each);
  }

  void segment(const name::List& list, const Segment& segment) {
    sink_.u32(list.handle, segment.handle);
    sink_.u32(list.length, segment.length);
    sink_.u64(list.offset, segment.offset);
  }

  Sink& sink_;
};

struct WriterSink {
  Writer writer;
  void u32(std::string_view, std::uint32_t value) { writer.u32(value); }
  void u64(std::string_view, std::uint64_t value) { writer.u64(value); }
};

struct SpanSink {
  std::vector<FieldSpan> spans;
  std::size_t offset = 0;
  void u32(std::string_view field, std::uint32_t) { add(field, 4); }
  void u64(std::string_view field, std::uint64_t) { add(field, 8); }
  void add(std::string_view field, std::size_t length) {
    spans.push_back({offset, length, field});
    offset += length;
  }
};

DraftChunk draft_chunk(std::span<const Segment> segments) {
  DraftChunk chunk;
  chunk.segments.assign(segments.begin(), segments.end());
  return chunk;
}

}  // namespace

Draft Draft::from(const Header& header, View payload) {
  Draft draft;
  draft.xid = header.xid;
  draft.vers = header.vers;
  draft.credit = header.credit;
  draft.proc = static_cast<std::uint32_t>(header.proc);
  draft.align = header.align;
  draft.thresh = header.thresh;
  draft.error = static_cast<std::uint32_t>(header.error);
  draft.vers_low = header.vers_low;
  draft.vers_high = header.vers_high;
  for (const ReadSegment& each : header.read_list) {
    DraftReadEntry entry;
    entry.segment = each;
    draft.read_list.push_back(entry);
  }
  for (std::size_t i = 0; i < header.write_list.size(); ++i) {
    draft.write_list.push_back(draft_chunk(header.write_list[i]));
  }
  if (header.has_reply_chunk) draft.reply_chunk = draft_chunk(header.reply_chunk);
  if (header.proc == Procedure::error && header.error != ErrorCode::vers &&
      header.error != ErrorCode::chunk) {
    // RFC 5666 4.3: in a draft they are octets after the error.
    Writer writer(draft.payload);
    for (const std::uint32_t word : header.extra) writer.u32(word);
  }
  draft.payload.insert(draft.payload.end(), payload.begin(), payload.end());
  return draft;
}

void encode(const Draft& draft, Bytes& out) {
  const std::size_t start = out.size();
  WriterSink sink{Writer(out)};
  Walk(sink).header(draft);
  sink.writer.raw(draft.payload);
  if (draft.cut_to && *draft.cut_to < out.size() - start) out.resize(start + *draft.cut_to);
  sink.writer.raw(draft.append);
}

std::vector<FieldSpan> fields(const Draft& draft) {
  SpanSink sink;
  Walk(sink).header(draft);
  return std::move(sink.spans);
}

}  // namespace steertag::wire
