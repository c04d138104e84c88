// The packets of a pcap or pcapng file, in constant memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/file/capture_format.h"
#include "capture/file/octet_source.h"
#include "capture/packet.h"

namespace steertag::capture {

class CaptureFile {
 public:
  /// Opens a file, a FIFO, or "-" for standard input. Fails if it does not start as a capture.
  static Expected<CaptureFile, FileError> open(const std::string& path,
                                               Interrupted interrupted = {});
  /// A capture in memory that must outlive this object; `name` is for errors.
  static Expected<CaptureFile, FileError> open(View octets, std::string name);

  /// The next packet, or nothing at the end. Its octets are valid until the next call. Packets
  /// before any damage are returned first. After an error, every call returns the same error.
  Expected<std::optional<Packet>, FileError> next();
  /// Comments of the last packet; valid until the next call. A pcap file has none.
  std::vector<std::string_view> comments() const;

  const std::string& name() const { return source_.name(); }
  /// Octets read, and the file's size if known.
  std::uint64_t offset() const { return source_.offset(); }
  std::optional<std::uint64_t> size() const { return source_.size(); }

 private:
  CaptureFile(OctetSource source, CaptureFormat format);
  static Expected<CaptureFile, FileError> over(OctetSource source);
  Expected<std::optional<Packet>, FileError> next_of(PcapngReader& reader);

  OctetSource source_;
  CaptureFormat format_;
  std::optional<FileError> error_;
};

}  // namespace steertag::capture
