// Splits a pcapng file into its blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/file/byte_order.h"
#include "capture/file/octet_source.h"

namespace steertag::capture {

/// Known block types. Others are skipped.
namespace block_type {
inline constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
inline constexpr std::uint32_t kInterfaceDescription = 1;
inline constexpr std::uint32_t kObsoletePacket = 2;
inline constexpr std::uint32_t kSimplePacket = 3;
inline constexpr std::uint32_t kEnhancedPacket = 6;
}  // namespace block_type

/// Type and length before the body, and the length again after it.
inline constexpr std::size_t kBlockHeadBytes = 8;
inline constexpr std::size_t kBlockBytes = 12;

struct Block {
  std::uint64_t offset = 0;  // position of its first octet in the file
  std::uint32_t type = 0;
  View whole;
  View body;
};

class BlockReader {
 public:
  /// Whether the source is at the first octet of a pcapng file.
  static bool recognizes(View start);

  /// The next block, or nothing at the file's end. Its octets are valid until the next call.
  Expected<std::optional<Block>, FileError> next(OctetSource& source);
  /// Byte order of the last block's section.
  ByteOrder order() const { return order_; }

 private:
  Expected<void, FileError> begin_section(OctetSource& source);

  ByteOrder order_;
  std::size_t shown_ = 0;  // octets of the source that the last block occupied
};

}  // namespace steertag::capture
