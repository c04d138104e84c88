// Writes pcapng blocks (section header, interface description, enhanced packet) to a stream.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"

namespace steertag::trace {

/// What the first octet of every packet of an interface belongs to (LINKTYPE_ registry).
enum class LinkType : std::uint16_t { ethernet = 1, raw_ip = 101 };

/// Longest comment that is kept, in octets: an option's length is 16 bits wide, and the longest
/// option must stay a multiple of four. What is longer is cut between two characters.
inline constexpr std::size_t kMaxCommentBytes = 65532;
/// Comments on one packet or section; more than a reader wants to see, and a bound on block length.
inline constexpr std::size_t kMaxComments = 256;

/// One section of a capture file, in host byte order, with nanosecond timestamps. The stream's
/// failure state tells whether everything was written.
class PcapngWriter {
 public:
  /// Writes the section header. `application` names the program; comments are about the whole file.
  PcapngWriter(std::ostream& out, std::string_view application,
               std::span<const std::string> comments = {});

  /// Writes an interface description and returns the interface's number, counted from 0.
  std::uint32_t add_interface(LinkType link_type, std::string_view name);

  /// Writes a packet. `time_ns` counts from 1970-01-01 UTC; earlier times are written as 0.
  void add_packet(std::uint32_t interface, std::int64_t time_ns, View packet,
                  std::span<const std::string> comments = {});

 private:
  void begin_block(std::uint32_t type);
  void end_block();
  void put16(std::uint16_t value);
  void put32(std::uint32_t value);
  void put_octets(View octets);
  void put_option(std::uint16_t code, View value);
  void put_comments(std::span<const std::string> comments);

  std::ostream& out_;
  Bytes block_;  // kept between blocks so that its memory is reused
  std::uint32_t interfaces_ = 0;
};

}  // namespace steertag::trace
