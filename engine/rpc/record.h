// TCP record marking (RFC 5531 11): a record is one or more fragments.
//
// Each fragment starts with a word that has its length and the last-fragment bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "support/bytes.h"
#include "support/expected.h"
#include "wire/fault.h"

namespace steertag::rpc {

/// Largest record accepted by default: 4 MiB of file data, the largest transfer that servers offer,
/// and 64 KiB for headers and other arguments.
inline constexpr std::size_t kMostRecordOctets = (std::size_t{4} << 20) + (std::size_t{64} << 10);
/// Most fragments of a record. Real senders use one. The limit ends a stream of empty fragments.
inline constexpr std::size_t kMostFragments = 1024;
/// Largest length that a fragment's word can hold.
inline constexpr std::size_t kMostFragmentOctets = 0x7fffffff;

/// Octets of a marking word.
inline constexpr std::size_t kRecordMarkOctets = 4;

/// The marking word of a fragment of `length` octets, at most kMostFragmentOctets.
constexpr std::uint32_t record_mark(std::uint32_t length, bool last) {
  return (last ? 0x80000000U : 0U) | (length & 0x7fffffffU);
}

/// Appends `message` as one record, in fragments of at most `fragment_octets`. This must be above
/// 0, and is at most kMostFragmentOctets. An empty message is one empty last fragment.
void append_record(Bytes& out, View message, std::size_t fragment_octets = kMostFragmentOctets);

/// The record at the start of `bytes`, if it is complete and in one fragment: no copy is needed. It
/// ends after kRecordMarkOctets and its own octets.
std::optional<View> whole_record(View bytes, std::size_t record_limit = kMostRecordOctets);

/// The length of the record that starts here, if its first fragment is its last.
std::optional<std::size_t> announced_octets(View bytes);

/// Reassembles records from a byte stream in pieces of any size. Memory grows with the octets
/// received, never with announced lengths. It is reused for later records.
class RecordReader {
 public:
  explicit RecordReader(std::size_t record_limit = kMostRecordOctets) : limit_(record_limit) {}

  /// Takes octets up to the end of the current record, and returns their number. Fewer than all
  /// means that the record is complete.
  ///
  /// Offsets of faults are those of the marking word in the stream. After a fault the framing is
  /// lost, and every call returns the same fault.
  ///
  /// Takes nothing while a complete record waits for `next`.
  Expected<std::size_t, wire::Fault> take(View bytes);

  /// Reserves memory for a record of this size.
  void reserve(std::size_t octets) { record_.reserve(octets); }
  /// Octets of the record so far, without marking words.
  std::size_t size() const { return record_.size(); }

  bool complete() const { return complete_; }
  /// The record, if complete; valid until `next`.
  View record() const { return record_; }
  /// Releases a complete record, so that the next one can be read.
  void next();
  /// Forgets everything but its memory, for another stream.
  void restart();
  /// Whether an unfinished record has octets, so that an end of stream truncates it.
  bool mid_record() const {
    return !complete_ && (mark_octets_ != 0 || in_fragment_ || fragments_ != 0);
  }

 private:
  void begin_fragment(std::uint64_t mark_offset);
  void end_fragment();

  std::size_t limit_;
  Bytes record_;
  std::array<std::byte, 4> mark_{};
  std::size_t mark_octets_ = 0;
  std::size_t fragment_left_ = 0;
  std::size_t fragments_ = 0;
  std::uint64_t stream_offset_ = 0;
  bool in_fragment_ = false;
  bool last_ = false;
  bool complete_ = false;
  wire::Fault fault_;
};

}  // namespace steertag::rpc
