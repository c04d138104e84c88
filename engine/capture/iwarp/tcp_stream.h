// One direction of a TCP connection: its position, and the octets that cannot be delivered yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "capture/iwarp/budget.h"
#include "capture/packet.h"

namespace steertag::capture::iwarp {

/// RFC 7323 2.3: no window is larger. Octets further away belong to something else.
inline constexpr std::uint64_t kMostWindow = std::uint64_t{1} << 30;
/// The octets that a fast sender has in flight behind one lost segment.
inline constexpr std::size_t kMostKeptBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostKeptPieces = 8192;

/// Octets of one TCP segment. Positions count a direction's octets in 64 bits.
struct Piece {
  std::uint64_t begin = 0;
  View octets;
  std::size_t missing = 0;     // not captured, after `octets`
  bool starts_segment = true;  // the first octet is the first of its TCP segment
  std::uint64_t needs = 0;     // the other direction's position that the sender had acknowledged
  FrameStamp stamp;

  std::uint64_t end() const { return begin + octets.size() + missing; }
  bool empty() const { return begin == end(); }
  /// Keeps only octets at and after `position`.
  void drop_before(std::uint64_t position);
  /// Keeps only octets before `position`.
  void drop_from(std::uint64_t position);
};

/// A FIN or an RST after the octets before `position`.
struct StreamEnd {
  std::uint64_t position = 0;
  std::uint64_t needs = 0;
  FrameStamp stamp;
};

class TcpStream {
 public:
  explicit TcpStream(Budget& budget) : budget_(budget) {}
  ~TcpStream() { clear(); }
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  /// The direction's first position in the capture. With `at_start` it is the first of the
  /// connection.
  void set_first(std::uint32_t sequence, bool at_start);
  bool placed() const { return placed_; }
  bool at_start() const { return at_start_; }
  std::uint64_t first() const { return first_; }
  /// Everything before it was delivered or declared lost.
  std::uint64_t next() const { return next_; }
  /// The other end has received everything before it.
  std::uint64_t acknowledged() const { return acknowledged_; }

  /// The position of a sequence number.
  std::uint64_t position(std::uint32_t sequence) const;
  bool near(std::uint64_t position) const;
  void acknowledge(std::uint64_t position);

  /// Copies the new octets of the piece. The first copy of an octet wins.
  void keep(Piece piece);
  void keep_fin(const StreamEnd& fin);
  void keep_rst(const StreamEnd& rst) { rst_ = rst; }
  bool keeps_too_much() const;
  bool keeps_nothing() const { return kept_.empty() && !fin_ && !rst_; }

  /// Whether no octet before `position` is kept.
  bool keeps_none_before(std::uint64_t position) const {
    return kept_.empty() || kept_.begin()->first >= position;
  }
  /// The position that the first kept piece waits for.
  std::optional<std::uint64_t> first_needs() const;

  /// The kind of the next item, if it is kept.
  enum class Head : std::uint8_t { none, octets, fin, rst };
  Head head();
  /// The position that the head waits for, and its place.
  std::uint64_t head_needs() const { return head_needs_; }
  const FrameStamp& head_stamp() const { return head_stamp_; }
  /// The head's octets before `position` wait for nothing any more.
  void release_head(std::uint64_t position);
  /// The next octets were acknowledged, and are missing.
  bool misses_acknowledged() { return head() == Head::none && acknowledged_ > next_; }

  struct Kept {
    Piece piece;
    Bytes octets;  // storage of the piece's view
  };
  /// Removes and returns the head's octets. Their position is next().
  Kept take_octets();
  /// Removes and returns the head.
  StreamEnd take_fin();
  StreamEnd take_rst();
  void advance(std::uint64_t position) { next_ = position; }
  /// Declares octets before `most` lost, at most up to the next kept item or the end of what was
  /// acknowledged. Returns the place of the item after the hole, if there is one.
  std::optional<FrameStamp> skip_hole(std::uint64_t most);
  void clear();

 private:
  void insert(const Piece& piece);
  std::size_t cost(const Kept& kept) const { return kept.octets.size() + sizeof(Kept); }

  Budget& budget_;
  bool placed_ = false;
  bool at_start_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::map<std::uint64_t, Kept> kept_;  // by begin; they do not overlap
  std::size_t kept_bytes_ = 0;
  std::optional<StreamEnd> fin_;
  std::optional<StreamEnd> rst_;
  std::uint64_t head_needs_ = 0;
  FrameStamp head_stamp_;
};

}  // namespace steertag::capture::iwarp
