// The RPC-over-RDMA version 1 transport header (RFC 8166 4) as a value: legal messages only.
//
// For illegal ones see wire/draft.h.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "support/bytes.h"
#include "support/expected.h"
#include "wire/fault.h"

namespace steertag::wire {

inline constexpr std::uint32_t kVersion = 1;             // RFC 8166 4.2.2
inline constexpr std::size_t kFixedBytes = 16;           // RFC 8166 4.2: four words
inline constexpr std::size_t kSmallestHeaderBytes = 28;  // RFC 8166 4.7
inline constexpr std::size_t kErrChunkBytes = 20;        // RFC 8166 4.5.2
inline constexpr std::size_t kErrVersBytes = 28;         // RFC 8166 4.5.1
inline constexpr std::size_t kSegmentBytes = 16;
inline constexpr std::size_t kReadSegmentBytes = 20;
/// Decoder limit for the segments of all lists together; a 256 KiB Send cannot hold more.
inline constexpr std::size_t kMostSegments = 16384;
/// Decoder limit for write chunks, which may be empty; a 256 KiB Send cannot hold more.
inline constexpr std::size_t kMostWriteChunks = 32768;

/// RFC 5666 4.3: the words after an undefined rdma_err.
inline constexpr std::size_t kErrorExtraWords = 8;

/// The two documents of version 1. RFC 5666 allows three more things: an RDMA_DONE of 16 octets, an
/// undefined rdma_err with kErrorExtraWords words, and a read segment at any position (3.7: a chunk
/// of roundup). RFC 8166 removed these. The XDR is otherwise the same.
enum class Document : std::uint8_t { rfc8166, rfc5666 };

enum class Procedure : std::uint32_t { msg = 0, nomsg = 1, msgp = 2, done = 3, error = 4 };
enum class ErrorCode : std::uint32_t { vers = 1, chunk = 2 };

/// RFC 8166 4.1.2: one plain segment. `handle` is the steering tag, `length` in octets.
struct Segment {
  std::uint32_t handle = 0;
  std::uint32_t length = 0;
  std::uint64_t offset = 0;
  bool operator==(const Segment&) const = default;
};

/// One element of the read list; `position` in octets of the unreduced payload stream (3.4.5).
struct ReadSegment {
  std::uint32_t position = 0;
  Segment target;
  bool operator==(const ReadSegment&) const = default;
};

/// The write list. Its chunks share one list of segments, so that a reused header does not
/// allocate.
class WriteList {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::span<const Segment> operator[](std::size_t chunk) const;
  std::span<Segment> at(std::size_t chunk);
  /// Appends a chunk. An empty span appends an empty chunk (count 0, RFC 8166 3.4.6). `segments`
  /// must not point into this list.
  void add(std::span<const Segment> segments);
  /// Appends an empty chunk that `extend` fills.
  void open() { ends_.push_back(static_cast<std::uint32_t>(segments_.size())); }
  void extend(const Segment& segment);
  /// Appends a chunk of `count` segments, to be filled by the caller.
  std::span<Segment> open(std::size_t count);
  std::size_t segment_count() const { return segments_.size(); }
  void clear();
  bool operator==(const WriteList&) const = default;

 private:
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> ends_;  // one past the last segment of each chunk
};

/// Size of a chunk: the sum of its segment lengths (RFC 8166 3.4.4).
std::uint64_t chunk_length(std::span<const Segment> segments);

/// A transport header of any of the five procedures. Fields without a place in the procedure keep
/// their defaults. Reuse one Header for many decodes: its lists keep their capacity.
struct Header {
  std::uint32_t xid = 0;
  std::uint32_t vers = kVersion;
  std::uint32_t credit = 0;
  Procedure proc = Procedure::msg;

  std::vector<ReadSegment> read_list;
  WriteList write_list;
  bool has_reply_chunk = false;
  std::vector<Segment> reply_chunk;

  std::uint32_t align = 0;   // RDMA_MSGP only
  std::uint32_t thresh = 0;  // RDMA_MSGP only

  ErrorCode error = ErrorCode::chunk;                   // RDMA_ERROR only; RFC 5666: any value
  std::uint32_t vers_low = 0;                           // ERR_VERS only
  std::uint32_t vers_high = 0;                          // ERR_VERS only
  std::array<std::uint32_t, kErrorExtraWords> extra{};  // RFC 5666's other errors only

  void clear();
  bool operator==(const Header&) const = default;
};

/// The four words with the same place and meaning in every version (RFC 8166 4.2). Unknown values
/// are kept.
struct FixedWords {
  std::uint32_t xid = 0;
  std::uint32_t vers = 0;
  std::uint32_t credit = 0;
  std::uint32_t proc = 0;
};

/// The fixed words of a message of at least 16 octets; nothing otherwise.
std::optional<FixedWords> peek(View message);

/// Decodes a whole Send strictly (RFC 8166 4.1.2, 4.5). The result is the payload stream, a view
/// into `message`; it is empty except for RDMA_MSG and RDMA_MSGP. No allocation once the lists have
/// their capacity.
///
/// On a fault `header` has what was read before it. With at least 16 octets, xid, vers and credit
/// are valid.
///
/// A 20-octet ERR_CHUNK is decoded. Any other message below 28 octets is `too_short`. An RDMA_DONE
/// therefore never decodes: its legal form has 16 octets (use `peek`), and a longer one has
/// trailing bytes.
///
/// An ERR_VERS may have any rdma_vers, because it echoes the refused version (4.5; RFC 5666 4.2:
/// any that its sender knows).
///
/// With Document::rfc5666 the additions of that document are legal too. Only a message below 16
/// octets is `too_short`. One that is too short for its procedure is `truncated`.
Expected<View, Fault> decode(View message, Header& header, Document document = Document::rfc8166);

/// Appends the header to `out`; the caller appends the payload stream. Never fails.
void encode(const Header& header, Bytes& out);

/// Octets that `encode` will append.
std::size_t encoded_size(const Header& header);

}  // namespace steertag::wire
