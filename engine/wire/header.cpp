// Strict decoding and encoding of the transport header.
#include "wire/header.h"

#include "wire/field_name.h"
#include "wire/xdr.h"

namespace steertag::wire {

namespace {

namespace name = field_name;

static_assert(sizeof(Segment) == kSegmentBytes, "octets in memory equal octets on the wire");

// Offsets of rdma_vers, rdma_proc and the word after the fixed words.
constexpr std::size_t kVersOffset = 4;
constexpr std::size_t kCreditOffset = 8;
constexpr std::size_t kProcOffset = 12;

/// Unchecked: the caller has checked that 16 octets exist.
Segment load_segment(const std::byte* from) {
  return {load_u32(from), load_u32(from + 4), load_u64(from + 8)};
}

/// Decodes the three chunk lists into a header and counts segments against the named limits.
class ListDecoder {
 public:
  ListDecoder(Reader& reader, Header& header, Document document)
      : reader_(reader), header_(header), document_(document) {}

  /// The list that does not decode; none if all do.
  ChunkList decode() {
    read_list();
    if (!reader_.ok()) return ChunkList::read;
    write_list();
    if (!reader_.ok()) return ChunkList::write;
    reply_chunk();
    return reader_.ok() ? ChunkList::none : ChunkList::reply;
  }

 private:
  bool take(std::size_t segments, std::size_t at, std::string_view field) {
    if (segments > kMostSegments - taken_) {
      reader_.fail(FaultCode::limit_exceeded, at, field);
      return false;
    }
    taken_ += segments;
    return true;
  }

  void read_list() {
    for (;;) {  // ends at kMostSegments, or at the end of the message
      const std::size_t at = reader_.offset();
      if (!reader_.boolean(name::kReadList.presence)) return;
      if (!take(1, at, name::kReadList.presence)) return;
      const std::size_t position_at = reader_.offset();
      ReadSegment segment;
      segment.position = reader_.u32(name::kReadList.position);
      // RFC 8166 3.4.5: the position is a multiple of four. RFC 5666 3.7 allows a chunk of roundup.
      if (segment.position % 4 != 0 && document_ == Document::rfc8166) {
        reader_.fail(FaultCode::bad_position, position_at, name::kReadList.position);
      }
      if (!target(segment.target)) return;
      header_.read_list.push_back(segment);
    }
  }

  bool target(Segment& segment) {
    if (reader_.ok() && reader_.remaining() >= kSegmentBytes) {
      segment = load_segment(reader_.rest().data());
      reader_.skip(kSegmentBytes, name::kReadList.handle);
      return true;
    }
    // Too few octets: read word by word, so that the fault names the truncated field.
    reader_.u32(name::kReadList.handle);
    reader_.u32(name::kReadList.length);
    reader_.u64(name::kReadList.offset);
    return false;
  }

  void write_list() {
    while (reader_.ok()) {  // ends at kMostWriteChunks, or at the end of the message
      const std::size_t at = reader_.offset();
      if (!reader_.boolean(name::kWriteList.presence)) return;
      if (header_.write_list.size() == kMostWriteChunks) {
        reader_.fail(FaultCode::limit_exceeded, at, name::kWriteList.presence);
        return;
      }
      const std::uint32_t count = segment_count(name::kWriteList.count);
      if (reader_.ok()) load(header_.write_list.open(count));
    }
  }

  void reply_chunk() {
    header_.has_reply_chunk = reader_.boolean(name::kReplyChunk.presence);
    if (!header_.has_reply_chunk) return;
    header_.reply_chunk.resize(segment_count(name::kReplyChunk.count));
    load(header_.reply_chunk);
  }

  /// A count within the limit, with all its segments in the message.
  std::uint32_t segment_count(std::string_view field) {
    const std::size_t at = reader_.offset();
    const std::uint32_t count = reader_.count(kSegmentBytes, SIZE_MAX, field);
    return take(count, at, field) ? count : 0;
  }

  void load(std::span<Segment> segments) {
    const std::byte* from = reader_.rest().data();
    for (Segment& each : segments) {
      each = load_segment(from);
      from += kSegmentBytes;
    }
    reader_.skip(segments.size_bytes(), name::kHeader);
  }

  Reader& reader_;
  Header& header_;
  Document document_;
  std::size_t taken_ = 0;
};

void expect_end(Reader& reader) {
  if (reader.remaining() != 0) {
    reader.fail(FaultCode::trailing_bytes, reader.offset(), name::kPayload);
  }
}

void decode_error(Reader& reader, Header& header, Document document) {
  const std::size_t at = reader.offset();
  const auto code = static_cast<ErrorCode>(reader.u32(name::kErr));
  if (code == ErrorCode::vers) {
    header.error = code;
    header.vers_low = reader.u32(name::kVersLow);
    header.vers_high = reader.u32(name::kVersHigh);
  } else if (code != ErrorCode::chunk && document == Document::rfc5666 && reader.ok()) {
    header.error = code;
    for (std::uint32_t& word : header.extra) word = reader.u32(name::kExtra);
  } else if (code != ErrorCode::chunk) {
    reader.fail(FaultCode::bad_error_code, at, name::kErr);
  }
  // An ERR_CHUNK answers a message of a known version, and has that version. Only an ERR_VERS
  // echoes an unknown one (RFC 8166 4.5.1, 4.5.2).
  if (reader.ok() && header.error != ErrorCode::vers && header.vers != kVersion) {
    reader.fail(FaultCode::bad_version, kVersOffset, name::kVers);
  }
  expect_end(reader);
}

/// The payload stream after the header. `faulty` is set to the list that does not decode.
View decode_body(Reader& reader, Header& header, Document document, ChunkList& faulty) {
  switch (header.proc) {
    case Procedure::msgp:
      header.align = reader.u32(name::kAlign);
      header.thresh = reader.u32(name::kThresh);
      [[fallthrough]];
    case Procedure::msg:
      faulty = ListDecoder(reader, header, document).decode();
      return reader.ok() ? reader.rest() : View{};
    case Procedure::nomsg:
      faulty = ListDecoder(reader, header, document).decode();
      // RFC 8166 4.5.2: an error even if a payload stream follows.
      if (header.read_list.empty() && header.write_list.empty() && !header.has_reply_chunk) {
        reader.fail(FaultCode::no_chunk, kFixedBytes, name::kReadList.presence);
      }
      expect_end(reader);
      return {};
    case Procedure::done:
      expect_end(reader);
      return {};
    case Procedure::error:
      decode_error(reader, header, document);
      return {};
  }
  return {};
}

bool is_short_err_chunk(View message, const FixedWords& fixed) {
  return message.size() == kErrChunkBytes &&
         fixed.proc == static_cast<std::uint32_t>(Procedure::error) &&
         load_u32(message.data() + kFixedBytes) == static_cast<std::uint32_t>(ErrorCode::chunk);
}

bool is_err_vers(View message, const FixedWords& fixed) {
  return fixed.proc == static_cast<std::uint32_t>(Procedure::error) &&
         message.size() >= kErrVersBytes &&
         load_u32(message.data() + kFixedBytes) == static_cast<std::uint32_t>(ErrorCode::vers);
}

/// Octets after the fixed words of an RDMA_ERROR.
std::size_t error_size(ErrorCode error) {
  switch (error) {
    case ErrorCode::vers:
      return kErrVersBytes - kFixedBytes;
    case ErrorCode::chunk:
      return kErrChunkBytes - kFixedBytes;
  }
  return 4 + 4 * kErrorExtraWords;  // RFC 5666 4.3
}

/// Stores words in a buffer that is large enough.
class Cursor {
 public:
  explicit Cursor(std::byte* to) : to_(to) {}
  void u32(std::uint32_t value) {
    store_u32(to_, value);
    to_ += 4;
  }
  void segment(const Segment& segment) {
    u32(segment.handle);
    u32(segment.length);
    store_u64(to_, segment.offset);
    to_ += 8;
  }
  void chunk(std::span<const Segment> segments) {
    u32(static_cast<std::uint32_t>(segments.size()));
    for (const Segment& each : segments) segment(each);
  }

 private:
  std::byte* to_;
};

void encode_lists(const Header& header, Cursor& cursor) {
  for (const ReadSegment& each : header.read_list) {
    cursor.u32(1);
    cursor.u32(each.position);
    cursor.segment(each.target);
  }
  cursor.u32(0);
  for (std::size_t i = 0; i < header.write_list.size(); ++i) {
    cursor.u32(1);
    cursor.chunk(header.write_list[i]);
  }
  cursor.u32(0);
  cursor.u32(header.has_reply_chunk ? 1 : 0);
  if (header.has_reply_chunk) cursor.chunk(header.reply_chunk);
}

std::size_t lists_size(const Header& header) {
  std::size_t size = 3 * 4;
  size += header.read_list.size() * (4 + kReadSegmentBytes);
  size += header.write_list.size() * 8 + header.write_list.segment_count() * kSegmentBytes;
  if (header.has_reply_chunk) size += 4 + header.reply_chunk.size() * kSegmentBytes;
  return size;
}

}  // namespace

std::span<const Segment> WriteList::operator[](std::size_t chunk) const {
  const std::size_t begin = chunk == 0 ? 0 : ends_[chunk - 1];
  return std::span(segments_).subspan(begin, ends_[chunk] - begin);
}

std::span<Segment> WriteList::at(std::size_t chunk) {
  const std::size_t begin = chunk == 0 ? 0 : ends_[chunk - 1];
  return std::span(segments_).subspan(begin, ends_[chunk] - begin);
}

void WriteList::add(std::span<const Segment> segments) {
  segments_.insert(segments_.end(), segments.begin(), segments.end());
  open();
}

void WriteList::extend(const Segment& segment) {
  segments_.push_back(segment);
  ++ends_.back();
}

std::span<Segment> WriteList::open(std::size_t count) {
  segments_.resize(segments_.size() + count);
  open();
  return at(ends_.size() - 1);
}

void WriteList::clear() {
  segments_.clear();
  ends_.clear();
}

std::uint64_t chunk_length(std::span<const Segment> segments) {
  std::uint64_t sum = 0;
  for (const Segment& each : segments) sum += each.length;
  return sum;
}

void Header::clear() {
  xid = 0;
  vers = kVersion;
  credit = 0;
  proc = Procedure::msg;
  read_list.clear();
  write_list.clear();
  has_reply_chunk = false;
  reply_chunk.clear();
  align = 0;
  thresh = 0;
  error = ErrorCode::chunk;
  vers_low = 0;
  vers_high = 0;
  extra.fill(0);
}

std::optional<FixedWords> peek(View message) {
  if (message.size() < kFixedBytes) return std::nullopt;
  const std::byte* at = message.data();
  return FixedWords{load_u32(at), load_u32(at + kVersOffset), load_u32(at + kCreditOffset),
                    load_u32(at + kProcOffset)};
}

Expected<View, Fault> decode(View message, Header& header, Document document) {
  header.clear();
  const auto fault = [](FaultCode code, std::size_t offset, std::string_view field) {
    return Unexpected<Fault>(Fault{code, offset, field});
  };
  const std::optional<FixedWords> fixed = peek(message);
  if (!fixed) return fault(FaultCode::too_short, 0, name::kHeader);
  header.xid = fixed->xid;
  header.vers = fixed->vers;
  header.credit = fixed->credit;
  const bool known_proc = fixed->proc <= static_cast<std::uint32_t>(Procedure::error);
  if (known_proc) header.proc = static_cast<Procedure>(fixed->proc);

  // RFC 8166 4.5: too short for a trustworthy XID, whatever the version.
  if (document == Document::rfc8166 && message.size() < kSmallestHeaderBytes &&
      !is_short_err_chunk(message, *fixed)) {
    return fault(FaultCode::too_short, 0, name::kHeader);
  }
  // RFC 8166 4.5: an RDMA_ERROR echoes the version of the request, which ERR_VERS refuses.
  if (fixed->vers != kVersion && !is_err_vers(message, *fixed)) {
    return fault(FaultCode::bad_version, kVersOffset, name::kVers);
  }
  if (!known_proc) return fault(FaultCode::bad_procedure, kProcOffset, name::kProc);

  Reader reader(message);
  reader.skip(kFixedBytes, name::kHeader);
  ChunkList faulty = ChunkList::none;
  const View payload = decode_body(reader, header, document, faulty);
  if (reader.ok()) return payload;
  Fault found = reader.fault();
  found.list = faulty;
  return Unexpected<Fault>(found);
}

std::size_t encoded_size(const Header& header) {
  switch (header.proc) {
    case Procedure::done:
      return kFixedBytes;
    case Procedure::error:
      return kFixedBytes + error_size(header.error);
    case Procedure::msgp:
      return kFixedBytes + 8 + lists_size(header);
    case Procedure::msg:
    case Procedure::nomsg:
      break;
  }
  return kFixedBytes + lists_size(header);
}

void encode(const Header& header, Bytes& out) {
  const std::size_t start = out.size();
  out.resize(start + encoded_size(header));
  Cursor cursor(out.data() + start);
  cursor.u32(header.xid);
  cursor.u32(header.vers);
  cursor.u32(header.credit);
  cursor.u32(static_cast<std::uint32_t>(header.proc));
  switch (header.proc) {
    case Procedure::done:
      return;
    case Procedure::error:
      cursor.u32(static_cast<std::uint32_t>(header.error));
      if (header.error == ErrorCode::vers) {
        cursor.u32(header.vers_low);
        cursor.u32(header.vers_high);
      } else if (header.error != ErrorCode::chunk) {
        for (const std::uint32_t word : header.extra) cursor.u32(word);
      }
      return;
    case Procedure::msgp:
      cursor.u32(header.align);
      cursor.u32(header.thresh);
      break;
    case Procedure::msg:
    case Procedure::nomsg:
      break;
  }
  encode_lists(header, cursor);
}

}  // namespace steertag::wire
