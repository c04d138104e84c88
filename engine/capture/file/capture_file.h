// A pcap or pcapng file as its packets, in constant memory.
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
  /// A file, a FIFO, or "-" for standard input. Fails if it does not begin as a capture.
  static Expected<CaptureFile, FileError> open(const std::string& path,
                                               Interrupted interrupted = {});
  /// A capture in memory, which must stay there; `name` is for errors.
  static Expected<CaptureFile, FileError> open(View octets, std::string name);

  /// The next packet, or nothing at the end. Its octets are valid until the next call. Of a damaged
  /// file all packets before the damage come first; after an error the same error comes again.
  Expected<std::optional<Packet>, FileError> next();
  /// Of the last packet; valid until the next call. A pcap file has none.
  std::vector<std::string_view> comments() const;

  const std::string& name() const { return source_.name(); }
  /// Octets read, and those of the whole file if that is known.
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
