// One pcapng block for writing: type, length, body, options, length again.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace steertag::trace {

/// Longest comment, in octets: an option's length has 16 bits, and the longest option must be a
/// multiple of four. A longer comment is truncated between two characters.
inline constexpr std::size_t kMaxCommentBytes = 65532;
/// Comments on one packet or section: more than a reader needs, and a limit for the block's length.
inline constexpr std::size_t kMaxComments = 256;

/// It reuses its memory for later blocks.
class PcapngBlock {
 public:
  /// In the other byte order than this machine's, if `swapped`.
  void begin(std::uint32_t type, bool swapped = false);
  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void put64(std::uint64_t value);
  /// Octets, and zeros up to a multiple of four.
  void put_octets(View octets);
  void put_option(std::uint16_t code, View value);
  /// At most kMaxComments, each truncated at kMaxCommentBytes.
  void put_comments(std::span<const std::string> comments);
  /// A text, truncated like a comment.
  void put_text(std::uint16_t code, std::string_view text);
  void put_end_of_options();
  /// Ends the block and writes it.
  void write(std::ostream& out);

 private:
  template <class Integer>
  void put(Integer value);

  Bytes octets_;
  bool swapped_ = false;
};

}  // namespace steertag::trace
