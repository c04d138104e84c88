// Writes pcapng blocks (section header, interface description, enhanced packet) to a stream.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "support/bytes.h"
#include "trace/pcapng_block.h"

namespace steertag::trace {

/// The type of the first header of an interface's packets (LINKTYPE_ registry).
enum class LinkType : std::uint16_t { ethernet = 1, raw_ip = 101 };

/// Decimal digits of a second.
enum class TimeUnit : std::uint8_t { microseconds = 6, nanoseconds = 9 };

/// A packet with its length on the wire, and with its time in the interface's unit.
struct CutPacket {
  std::uint64_t time = 0;
  View octets;
  std::uint32_t wire_bytes = 0;
};

/// One section of a capture file, in host byte order. The stream's failure state shows whether
/// everything was written.
class PcapngWriter {
 public:
  /// Writes the section header. `application` names the program. The comments are about the whole
  /// file.
  PcapngWriter(std::ostream& out, std::string_view application,
               std::span<const std::string> comments = {});

  /// Writes an interface description and returns the interface's number, counted from 0. An empty
  /// name is not written.
  std::uint32_t add_interface(LinkType link_type, std::string_view name,
                              TimeUnit unit = TimeUnit::nanoseconds);

  /// Writes a packet. `time_ns` counts from 1970-01-01 UTC; earlier times are written as 0. The
  /// interface must count nanoseconds.
  void add_packet(std::uint32_t interface, std::int64_t time_ns, View packet,
                  std::span<const std::string> comments = {});
  void add_packet(std::uint32_t interface, const CutPacket& packet,
                  std::span<const std::string> comments = {});

 private:
  std::ostream& out_;
  PcapngBlock block_;
  std::uint32_t interfaces_ = 0;
};

}  // namespace steertag::trace
