// Finds the packets among a pcapng file's blocks, and applies their interfaces' settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/file/blocks.h"
#include "capture/packet.h"

namespace steertag::capture {

/// A frame in Wireshark's count. A journal entry or custom data counts as a frame, but has no
/// `packet`.
struct Frame {
  std::uint64_t number = 0;
  std::optional<Packet> packet;
  std::uint32_t interface = 0;
  std::uint64_t time = 0;        // in the interface's units, as in the file
  std::uint32_t wire_bytes = 0;  // as in the file, even if less than was captured
  View options;                  // of the block, from the first option on
};

class PcapngReader {
 public:
  /// The next block, or nothing at the file's end. It is valid until the next call.
  Expected<std::optional<Block>, FileError> next(OctetSource& source);
  /// The last block, if it counts as a frame.
  const std::optional<Frame>& frame() const { return frame_; }
  ByteOrder order() const { return blocks_.order(); }

 private:
  struct Interface {
    LinkType link_type = LinkType::ethernet;
    std::uint32_t snap_length = 0;  // 0: no limit
    std::uint8_t resolution = 6;    // if_tsresol: 10^-n s, or 2^-n s if the first bit is set
    std::int64_t offset_s = 0;      // if_tsoffset
    bool by_an_end = false;         // see FrameStamp
  };
  /// A fault of a block, and its place in the body.
  struct Wrong {
    FileFault fault = FileFault::damaged;
    std::size_t at = 0;
    std::string what;
  };

  Expected<void, Wrong> read_block(const Block& block);
  Expected<void, Wrong> add_interface(View body);
  Expected<void, Wrong> read_enhanced(View body);
  Expected<void, Wrong> read_obsolete(View body);
  Expected<void, Wrong> read_simple(View body);
  Expected<void, Wrong> read_packet(View body, std::uint32_t interface);
  Expected<void, Wrong> set_packet(View body, std::size_t header, std::uint32_t interface,
                                   std::uint32_t captured, std::uint32_t wire);

  BlockReader blocks_;
  std::vector<Interface> interfaces_;  // of the current section
  std::uint64_t frames_ = 0;
  std::optional<Frame> frame_;
};

/// An interface's time as nanoseconds since 1970, limited to 64 bits.
std::int64_t nanoseconds(std::uint64_t time, std::uint8_t resolution, std::int64_t offset_s);

}  // namespace steertag::capture
