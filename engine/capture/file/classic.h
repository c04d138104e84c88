// Records of a pcap file in either byte order, with microseconds or nanoseconds.
#pragma once

#include <optional>

#include "capture/file/byte_order.h"
#include "capture/file/octet_source.h"
#include "capture/packet.h"

namespace steertag::capture {

class ClassicReader {
 public:
  /// Whether the source is at the first octet of a pcap file.
  static bool recognizes(View start);
  /// Reads the file header.
  static Expected<ClassicReader, FileError> open(OctetSource& source);

  /// The next packet, or nothing at the file's end. Its octets are valid until the next call.
  Expected<std::optional<Packet>, FileError> next(OctetSource& source);
  bool nanoseconds() const { return nanoseconds_; }
  LinkType link_type() const { return link_type_; }

 private:
  ByteOrder order_;
  bool nanoseconds_ = false;
  std::size_t record_bytes_ = 16;  // of a record's header
  LinkType link_type_ = LinkType::ethernet;
  std::uint64_t frame_ = 0;
  std::size_t shown_ = 0;  // octets of the source that the last packet occupied
};

}  // namespace steertag::capture
