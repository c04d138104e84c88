// One pcapng block as it is written: type, length, body, options, length again.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace steertag::trace {

/// Longest comment that is kept, in octets: an option's length is 16 bits wide, and the longest
/// option must stay a multiple of four. What is longer is cut between two characters.
inline constexpr std::size_t kMaxCommentBytes = 65532;
/// Comments on one packet or section; more than a reader wants to see, and a bound on block length.
inline constexpr std::size_t kMaxComments = 256;

/// Its memory is kept from block to block.
class PcapngBlock {
 public:
  /// In the byte order that is not this machine's, if `swapped`.
  void begin(std::uint32_t type, bool swapped = false);
  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void put64(std::uint64_t value);
  /// Octets, and zeros up to a multiple of four.
  void put_octets(View octets);
  void put_option(std::uint16_t code, View value);
  /// As many as kMaxComments, each cut at kMaxCommentBytes.
  void put_comments(std::span<const std::string> comments);
  /// A text, cut as a comment is.
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
