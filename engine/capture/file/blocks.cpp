// Checks every length twice: against what a block can have, and against its copy at the end.
#include "capture/file/blocks.h"

#include <string>
#include <utility>

#include "capture/file/limits.h"

namespace steertag::capture {
namespace {

constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
// Magic, version and section length.
constexpr std::size_t kSectionHeaderBytes = kBlockBytes + 16;
constexpr std::size_t kTypeAndMagicBytes = 12;
constexpr std::size_t kUpToVersionBytes = 16;
constexpr std::uint16_t kMajor = 1;
// Some writers wrote 1.2 for version 1.0.
constexpr std::uint16_t kMinor = 0;
constexpr std::uint16_t kOtherMinor = 2;

FileError fault_at(const OctetSource& source, FileFault fault, std::uint64_t at,
                   std::string detail) {
  return {fault, source.name(), source.offset() + at, std::move(detail)};
}

}  // namespace

bool BlockReader::recognizes(View start) {
  if (start.size() < kTypeAndMagicBytes) return false;
  const std::uint32_t magic = ByteOrder{false}.load32(start.data() + 8);
  return ByteOrder{false}.load32(start.data()) == block_type::kSectionHeader &&
         (magic == kByteOrderMagic || __builtin_bswap32(magic) == kByteOrderMagic);
}

/// Determines the byte order of the section header at the source's position.
Expected<void, FileError> BlockReader::begin_section(OctetSource& source) {
  const View start = source.look(kUpToVersionBytes);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (start.size() < kUpToVersionBytes) {
    return Unexpected<FileError>(
        fault_at(source, FileFault::truncated, 0, "the file ends inside a section header"));
  }
  if (!recognizes(start)) {
    return Unexpected<FileError>(fault_at(
        source, FileFault::damaged, 8, "a section header without the byte-order magic 0x1a2b3c4d"));
  }
  order_.swapped = ByteOrder{false}.load32(start.data() + 8) != kByteOrderMagic;
  const std::uint16_t major = order_.load16(start.data() + 12);
  const std::uint16_t minor = order_.load16(start.data() + 14);
  if (major != kMajor || (minor != kMinor && minor != kOtherMinor)) {
    return Unexpected<FileError>(fault_at(source, FileFault::not_a_capture, 12,
                                          "version " + std::to_string(major) + '.' +
                                              std::to_string(minor) +
                                              " of the pcapng format; only 1.0 is known"));
  }
  return {};
}

Expected<std::optional<Block>, FileError> BlockReader::next(OctetSource& source) {
  source.skip(std::exchange(shown_, 0));
  const View head = source.look(kBlockHeadBytes);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (head.empty()) return std::optional<Block>();
  if (head.size() < kBlockHeadBytes) {
    return Unexpected<FileError>(
        fault_at(source, FileFault::truncated, 0, "the file ends inside the head of a block"));
  }
  // The type of a section header reads the same in both byte orders.
  const bool section = order_.load32(head.data()) == block_type::kSectionHeader;
  if (section) {
    if (const auto begun = begin_section(source); !begun)
      return Unexpected<FileError>(begun.error());
  }
  const View start = source.look(kBlockHeadBytes);
  const std::uint32_t type = order_.load32(start.data());
  const std::uint32_t length = order_.load32(start.data() + 4);
  const auto text = [&](const std::string& what) {
    return "the length " + std::to_string(length) + " of a block of type " + std::to_string(type) +
           what;
  };
  if (length % 4 != 0 || length < (section ? kSectionHeaderBytes : kBlockBytes)) {
    return Unexpected<FileError>(
        fault_at(source, FileFault::damaged, 4, text(" is no multiple of 4, or too small")));
  }
  if (length > kMostBlockBytes) {
    return Unexpected<FileError>(fault_at(
        source, FileFault::too_large, 4, text(" is more than " + std::to_string(kMostBlockBytes))));
  }
  const View seen = source.look(length);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (seen.size() < length) {
    return Unexpected<FileError>(fault_at(
        source, FileFault::truncated, 0,
        "the file ends after " + std::to_string(seen.size()) + " of the " + std::to_string(length) +
            " octets of a block of type " + std::to_string(type)));
  }
  const View whole = seen.first(length);
  if (const std::uint32_t again = order_.load32(whole.data() + length - 4); again != length) {
    return Unexpected<FileError>(fault_at(source, FileFault::damaged, length - 4,
                                          text(" is " + std::to_string(again) + " at its end")));
  }
  const Block block{source.offset(), type, whole,
                    whole.subspan(kBlockHeadBytes, length - kBlockBytes)};
  shown_ = length;
  return block;
}

}  // namespace steertag::capture
