// Reads interface descriptions and the three kinds of packet blocks.
#include "capture/file/pcapng_reader.h"

#include <algorithm>
#include <limits>
#include <string>

#include "capture/file/limits.h"
#include "capture/file/options.h"
#include "support/roundup.h"
#include "trace/capture.h"

namespace steertag::capture {
namespace {

constexpr std::size_t kInterfaceBytes = 8;  // link type, reserved, snap length
constexpr std::size_t kPacketBytes = 20;    // of an Enhanced or obsolete Packet Block
constexpr std::size_t kSimpleBytes = 4;
constexpr std::uint8_t kBinaryResolution = 0x80;
constexpr std::int64_t kNanosecondsASecond = 1'000'000'000;

__extension__ using Wide = __int128;

/// Blocks that Wireshark counts as frames although they are no packets: journal entries, custom
/// blocks (both kinds), and three kinds of system calls.
constexpr std::uint32_t kNumberedBlocks[] = {9, 0xbad, 0x40000bad, 0x204, 0x216, 0x221};

bool is_own(View name) {
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  return text == trace::kOwnInterface;
}

bool is_numbered(std::uint32_t type) {
  return std::ranges::find(kNumberedBlocks, type) != std::end(kNumberedBlocks);
}

}  // namespace

std::int64_t nanoseconds(std::uint64_t time, std::uint8_t resolution, std::int64_t offset_s) {
  Wide value = Wide{time};
  if ((resolution & kBinaryResolution) != 0) {
    value = value * kNanosecondsASecond >> (resolution & ~kBinaryResolution);
  } else {
    // With resolutions above 10^-28 s, every 64-bit time is below a nanosecond. With resolutions
    // below 10^-9 s, one unit exceeds it.
    for (int digits = resolution; digits > 9 && value != 0; --digits) value /= 10;
    for (int digits = resolution; digits < 9; ++digits) value *= 10;
  }
  value += Wide{offset_s} * kNanosecondsASecond;
  value = std::clamp<Wide>(value, std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(value);
}

Expected<std::optional<Block>, FileError> PcapngReader::next(OctetSource& source) {
  frame_.reset();
  auto block = blocks_.next(source);
  if (!block || !*block) return block;
  if (const auto read = read_block(**block); !read) {
    frame_.reset();
    const std::uint64_t at = (*block)->offset + kBlockHeadBytes + read.error().at;
    return Unexpected<FileError>(
        FileError{read.error().fault, source.name(), at, read.error().what});
  }
  return block;
}

Expected<void, PcapngReader::Wrong> PcapngReader::read_block(const Block& block) {
  switch (block.type) {
    case block_type::kSectionHeader:
      interfaces_.clear();
      return {};
    case block_type::kInterfaceDescription:
      return add_interface(block.body);
    case block_type::kEnhancedPacket:
      return read_enhanced(block.body);
    case block_type::kSimplePacket:
      return read_simple(block.body);
    case block_type::kObsoletePacket:
      return read_obsolete(block.body);
    default:
      if (is_numbered(block.type)) frame_ = Frame{++frames_, std::nullopt, 0, 0, 0, {}};
      return {};
  }
}

Expected<void, PcapngReader::Wrong> PcapngReader::add_interface(View body) {
  if (body.size() < kInterfaceBytes) {
    return Unexpected<Wrong>(
        Wrong{FileFault::damaged, 0, "an interface description that is too short"});
  }
  if (interfaces_.size() == kMostInterfaces) {
    return Unexpected<Wrong>(
        Wrong{FileFault::too_large, 0,
              "more than " + std::to_string(kMostInterfaces) + " interfaces in a section"});
  }
  Interface interface;
  interface.link_type = static_cast<LinkType>(order().load16(body.data()));
  interface.snap_length = order().load32(body.data() + 4);
  View rest = body.subspan(kInterfaceBytes);
  while (const auto option = take_option(rest, order())) {
    if (option->code == option_code::kTimestampResolution && option->value.size() == 1) {
      interface.resolution = std::to_integer<std::uint8_t>(option->value.front());
    }
    if (option->code == option_code::kInterfaceName) {
      interface.by_an_end = is_own(option->value);
    }
    if (option->code == option_code::kTimestampOffset && option->value.size() == 8) {
      interface.offset_s = static_cast<std::int64_t>(order().load64(option->value.data()));
    }
  }
  interfaces_.push_back(interface);
  return {};
}

Expected<void, PcapngReader::Wrong> PcapngReader::read_enhanced(View body) {
  if (body.size() < kPacketBytes) {
    return Unexpected<Wrong>(
        Wrong{FileFault::damaged, 0, "an Enhanced Packet Block that is too short"});
  }
  return read_packet(body, order().load32(body.data()));
}

Expected<void, PcapngReader::Wrong> PcapngReader::read_obsolete(View body) {
  if (body.size() < kPacketBytes) {
    return Unexpected<Wrong>(Wrong{FileFault::damaged, 0, "a Packet Block that is too short"});
  }
  return read_packet(body, order().load16(body.data()));
}

/// The common part of both kinds, after the interface's number.
Expected<void, PcapngReader::Wrong> PcapngReader::read_packet(View body, std::uint32_t interface) {
  const auto set = set_packet(body, kPacketBytes, interface, order().load32(body.data() + 12),
                              order().load32(body.data() + 16));
  if (!set) return set;
  frame_->time =
      std::uint64_t{order().load32(body.data() + 4)} << 32 | order().load32(body.data() + 8);
  const Interface& of = interfaces_[interface];
  frame_->packet->stamp.time_ns = nanoseconds(frame_->time, of.resolution, of.offset_s);
  return {};
}

/// The packet has its length on the wire, or the interface's snap length. It has no time.
Expected<void, PcapngReader::Wrong> PcapngReader::read_simple(View body) {
  if (body.size() < kSimpleBytes) {
    return Unexpected<Wrong>(
        Wrong{FileFault::damaged, 0, "a Simple Packet Block that is too short"});
  }
  const std::uint32_t wire = order().load32(body.data());
  const std::uint32_t limit = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
  return set_packet(body, kSimpleBytes, 0, limit == 0 ? wire : std::min(wire, limit), wire);
}

Expected<void, PcapngReader::Wrong> PcapngReader::set_packet(View body, std::size_t header,
                                                             std::uint32_t interface,
                                                             std::uint32_t captured,
                                                             std::uint32_t wire) {
  const std::uint64_t number = frames_ + 1;
  if (interface >= interfaces_.size()) {
    return Unexpected<Wrong>(
        Wrong{FileFault::damaged, 0,
              "frame " + std::to_string(number) + " is of interface " + std::to_string(interface) +
                  ", of " + std::to_string(interfaces_.size()) + " that were described"});
  }
  const std::size_t room = body.size() - header;
  if (captured > kMostPacketBytes || captured > room) {
    return Unexpected<Wrong>(Wrong{FileFault::damaged, header > kSimpleBytes ? 12u : 0u,
                                   "frame " + std::to_string(number) + " has " +
                                       std::to_string(captured) +
                                       " octets in a block with room for " +
                                       std::to_string(std::min(room, kMostPacketBytes))});
  }
  frames_ = number;
  Packet packet;
  packet.stamp.frame = number;
  packet.stamp.by_an_end = interfaces_[interface].by_an_end;
  packet.link_type = interfaces_[interface].link_type;
  packet.octets = body.subspan(header, captured);
  packet.wire_bytes = std::max(captured, wire);
  const View options = body.subspan(header + std::min(room, roundup4(captured)));
  frame_ = Frame{number, packet, interface, 0, wire, options};
  return {};
}

}  // namespace steertag::capture
