// Reads any octets back as a draft, as far as they follow the format.
#include "wire/draft.h"
#include "wire/field_name.h"
#include "wire/xdr.h"

namespace steertag::wire {

namespace {

namespace name = field_name;

class DraftReader {
 public:
  explicit DraftReader(View message) : message_(message), reader_(message) {}

  Draft read() {
    const bool whole = fixed_words() && body();
    const View rest = message_.subspan(good_);
    if (whole) {
      draft_.payload.assign(rest.begin(), rest.end());
    } else {
      draft_.cut_to = good_;
      draft_.append.assign(rest.begin(), rest.end());
    }
    return std::move(draft_);
  }

 private:
  /// Reads a word into `value` and moves the good end after it. No effect at the end of the
  /// message.
  bool word(std::uint32_t& value, std::string_view field) {
    const std::uint32_t read = reader_.u32(field);
    if (!reader_.ok()) return false;
    value = read;
    good_ = reader_.offset();
    return true;
  }

  bool segment(Segment& segment, const name::List& list) {
    segment.handle = reader_.u32(list.handle);
    segment.length = reader_.u32(list.length);
    segment.offset = reader_.u64(list.offset);
    if (!reader_.ok()) return false;
    good_ = reader_.offset();
    return true;
  }

  bool fixed_words() {
    return word(draft_.xid, name::kXid) && word(draft_.vers, name::kVers) &&
           word(draft_.credit, name::kCredit) && word(draft_.proc, name::kProc);
  }

  bool body() {
    switch (draft_.proc) {
      case static_cast<std::uint32_t>(Procedure::done):
        return true;
      case static_cast<std::uint32_t>(Procedure::error):
        return error();
      case static_cast<std::uint32_t>(Procedure::msgp):
        if (!word(draft_.align, name::kAlign) || !word(draft_.thresh, name::kThresh)) return false;
        break;
      default:
        break;
    }
    return read_list() && write_list() && reply_chunk();
  }

  bool error() {
    if (!word(draft_.error, name::kErr)) return false;
    if (draft_.error != static_cast<std::uint32_t>(ErrorCode::vers)) return true;
    return word(draft_.vers_low, name::kVersLow) && word(draft_.vers_high, name::kVersHigh);
  }

  bool read_list() {
    for (;;) {  // each turn consumes a whole entry of the message, or ends
      if (!word(draft_.read_list_end, name::kReadList.presence)) return false;
      if (draft_.read_list_end == 0) return true;
      if (draft_.read_list_end != 1) return false;
      DraftReadEntry entry;
      entry.segment.position = reader_.u32(name::kReadList.position);
      if (!segment(entry.segment.target, name::kReadList)) return false;
      draft_.read_list.push_back(entry);
      draft_.read_list_end = 0;
    }
  }

  bool write_list() {
    for (;;) {  // each turn consumes a whole entry of the message, or ends
      if (!word(draft_.write_list_end, name::kWriteList.presence)) return false;
      if (draft_.write_list_end == 0) return true;
      if (draft_.write_list_end != 1) return false;
      std::uint32_t count = 0;
      if (!word(count, name::kWriteList.count)) return false;
      draft_.write_list_end = 0;
      if (!chunk(draft_.write_list.emplace_back(), count, name::kWriteList)) return false;
    }
  }

  bool reply_chunk() {
    if (!word(draft_.reply_chunk_absent, name::kReplyChunk.presence)) return false;
    if (draft_.reply_chunk_absent == 0) return true;
    if (draft_.reply_chunk_absent != 1) return false;
    std::uint32_t count = 0;
    if (!word(count, name::kReplyChunk.count)) return false;
    draft_.reply_chunk_absent = 0;
    return chunk(draft_.reply_chunk.emplace(), count, name::kReplyChunk);
  }

  /// Fills a chunk after its count. A count beyond the message stays as it is.
  bool chunk(DraftChunk& chunk, std::uint32_t count, const name::List& list) {
    if (count > reader_.remaining() / kSegmentBytes) {
      chunk.count = count;
      return false;
    }
    chunk.segments.resize(count);
    for (Segment& each : chunk.segments) {
      if (!segment(each, list)) return false;
    }
    return true;
  }

  View message_;
  Reader reader_;
  Draft draft_;
  std::size_t good_ = 0;  // up to here the draft's fields give the message
};

}  // namespace

Draft draft_of(View message) {
  return DraftReader(message).read();
}

}  // namespace steertag::wire
