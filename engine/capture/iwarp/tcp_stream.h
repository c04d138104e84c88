// One direction of a TCP connection: which octets of it have been handed on, and those kept because
// they cannot be yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "capture/iwarp/budget.h"
#include "capture/packet.h"

namespace steertag::capture::iwarp {

/// RFC 7323 2.3: no window is larger, so what lies further off belongs to something else.
inline constexpr std::uint64_t kMostWindow = std::uint64_t{1} << 30;
/// A direction keeps what a fast sender has under way behind one lost segment.
inline constexpr std::size_t kMostKeptBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostKeptPieces = 8192;

/// Octets of one TCP segment. Positions count a direction's octets in 64 bits.
struct Piece {
  std::uint64_t begin = 0;
  View octets;
  std::size_t missing = 0;     // that were not captured, behind `octets`
  bool starts_segment = true;  // the first octet is the first of its TCP segment
  std::uint64_t needs = 0;     // the other direction's position that the sender had received
  Place place;

  std::uint64_t end() const { return begin + octets.size() + missing; }
  bool empty() const { return begin == end(); }
  /// Leaves what lies at `position` and behind it.
  void drop_before(std::uint64_t position);
  /// Leaves what lies before `position`.
  void drop_from(std::uint64_t position);
};

/// A FIN or an RST, which stands behind the octets before `position`.
struct Mark {
  std::uint64_t position = 0;
  std::uint64_t needs = 0;
  Place place;
};

class TcpStream {
 public:
  explicit TcpStream(Budget& budget) : budget_(budget) {}
  ~TcpStream() { clear(); }
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  /// Where the direction begins in the capture. `at_start`: that is where it begins at all.
  void set_first(std::uint32_t sequence, bool at_start);
  bool placed() const { return placed_; }
  bool at_start() const { return at_start_; }
  std::uint64_t first() const { return first_; }
  /// Everything before it has been handed on or given up.
  std::uint64_t next() const { return next_; }
  /// The other end has received everything before it.
  std::uint64_t acknowledged() const { return acknowledged_; }

  /// The position that is meant by a sequence number.
  std::uint64_t position(std::uint32_t sequence) const;
  bool near(std::uint64_t position) const;
  void acknowledge(std::uint64_t position);

  /// Keeps a copy of what is new of it; of octets that are there twice the first copy stays.
  void keep(Piece piece);
  void keep_fin(const Mark& fin);
  void keep_rst(const Mark& rst) { rst_ = rst; }
  bool keeps_too_much() const;
  bool keeps_nothing() const { return kept_.empty() && !fin_ && !rst_; }

  /// Whether octets up to `position` are all new.
  bool keeps_none_before(std::uint64_t position) const {
    return kept_.empty() || kept_.begin()->first >= position;
  }
  /// What the first thing that is kept needs.
  std::optional<std::uint64_t> first_needs() const;

  /// What comes next, if it is there.
  enum class Head : std::uint8_t { none, octets, fin, rst };
  Head head();
  /// Of the head: what it needs, and where it stands.
  std::uint64_t head_needs() const { return head_needs_; }
  const Place& head_place() const { return head_place_; }
  /// The head's octets before `position` need nothing any more.
  void release_head(std::uint64_t position);
  /// The acknowledged octets that come next are not there.
  bool lacks_acknowledged() { return head() == Head::none && acknowledged_ > next_; }

  struct Kept {
    Piece piece;
    Bytes octets;  // what the piece's view points to
  };
  /// Takes the head's octets out; its position is next() from then.
  Kept take_octets();
  /// Takes the head out.
  Mark take_fin();
  Mark take_rst();
  void advance(std::uint64_t position) { next_ = position; }
  /// Gives up what is missing before `most`, or before the next thing that is kept or the end of
  /// what was acknowledged, if that comes first. Returns the place of what is there now, if
  /// anything is.
  std::optional<Place> skip_hole(std::uint64_t most);
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
  std::optional<Mark> fin_;
  std::optional<Mark> rst_;
  std::uint64_t head_needs_ = 0;
  Place head_place_;
};

}  // namespace steertag::capture::iwarp
