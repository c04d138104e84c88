// The file header is 24 octets; each packet has a header of 16, or 24 if the file is "modified".
#include "capture/file/classic.h"

#include <algorithm>
#include <string>

#include "capture/file/limits.h"

namespace steertag::capture {
namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kNanoseconds = 0xa1b23c4d;
// Kernels before 2000 wrote eight more octets in each record's header.
constexpr std::uint32_t kModified = 0xa1b2cd34;

constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordBytes = 16;
constexpr std::size_t kModifiedRecordBytes = 24;
constexpr std::uint16_t kMajor = 2;
constexpr std::uint16_t kMinor = 4;
// The upper bits are the length of a frame check sequence, which no IP reader needs.
constexpr std::uint32_t kLinkTypeMask = 0x03ffffff;

/// Old libpcap wrote 12, or 14 on OpenBSD, in place of LINKTYPE_RAW.
LinkType link_type_of(std::uint32_t field) {
  const std::uint32_t value = field & kLinkTypeMask;
  return value == 12 || value == 14 ? LinkType::raw_ip : static_cast<LinkType>(value);
}

bool is_magic(std::uint32_t value) {
  return value == kMicroseconds || value == kNanoseconds || value == kModified;
}

}  // namespace

bool ClassicReader::recognizes(View start) {
  if (start.size() < 4) return false;
  return is_magic(ByteOrder{false}.load32(start.data())) ||
         is_magic(ByteOrder{true}.load32(start.data()));
}

Expected<ClassicReader, FileError> ClassicReader::open(OctetSource& source) {
  const View header = source.look(kFileHeaderBytes);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (header.size() < kFileHeaderBytes) {
    return Unexpected<FileError>(FileError{FileFault::truncated, source.name(), 0,
                                           "the file ends inside the header of a pcap file"});
  }
  ClassicReader reader;
  reader.order_.swapped = !is_magic(ByteOrder{false}.load32(header.data()));
  const std::uint32_t magic = reader.order_.load32(header.data());
  const std::uint16_t major = reader.order_.load16(header.data() + 4);
  const std::uint16_t minor = reader.order_.load16(header.data() + 6);
  if (major != kMajor || minor != kMinor) {
    return Unexpected<FileError>(FileError{FileFault::not_a_capture, source.name(), 4,
                                           "version " + std::to_string(major) + '.' +
                                               std::to_string(minor) +
                                               " of the pcap format; only 2.4 is known"});
  }
  reader.nanoseconds_ = magic == kNanoseconds;
  reader.record_bytes_ = magic == kModified ? kModifiedRecordBytes : kRecordBytes;
  reader.link_type_ = link_type_of(reader.order_.load32(header.data() + 20));
  source.skip(kFileHeaderBytes);
  return reader;
}

Expected<std::optional<Packet>, FileError> ClassicReader::next(OctetSource& source) {
  source.skip(std::exchange(shown_, 0));
  const auto error = [&](FileFault fault, std::uint64_t at, const std::string& detail) {
    return Unexpected<FileError>(FileError{fault, source.name(), source.offset() + at,
                                           detail + " of frame " + std::to_string(frame_ + 1)});
  };
  const View header = source.look(record_bytes_);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (header.empty()) return std::optional<Packet>();
  if (header.size() < record_bytes_) {
    return error(FileFault::truncated, 0, "the file ends inside the record header");
  }
  const std::uint32_t captured = order_.load32(header.data() + 8);
  if (captured > kMostPacketBytes) {
    return error(FileFault::damaged, 8,
                 "a packet of " + std::to_string(captured) + " octets, when " +
                     std::to_string(kMostPacketBytes) + " are the most: the record header");
  }
  const std::size_t length = record_bytes_ + captured;
  const View record = source.look(length);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  if (record.size() < length) {
    return error(FileFault::truncated, 0,
                 "the file ends after " + std::to_string(record.size() - record_bytes_) + " of " +
                     std::to_string(captured) + " octets of the packet");
  }
  Packet packet;
  const std::int64_t fraction = order_.load32(record.data() + 4);
  packet.stamp.frame = ++frame_;
  packet.stamp.time_ns = std::int64_t{order_.load32(record.data())} * 1'000'000'000 +
                         (nanoseconds_ ? fraction : fraction * 1000);
  packet.link_type = link_type_;
  packet.octets = record.subspan(record_bytes_, captured);
  // A writer that truncated a packet without its length has recorded at least these octets.
  packet.wire_bytes = std::max(captured, order_.load32(record.data() + 12));
  shown_ = length;
  return packet;
}

}  // namespace steertag::capture
