// The first octets of formats that users are likely to pass by mistake.
#include "capture/file/capture_format.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace steertag::capture {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kStartBytes = 16;

struct Magic {
  std::string_view octets;
  std::string_view what;
};

constexpr Magic kCompressed[] = {
    {"\x1f\x8b"sv, "gzip"},
    {"\x28\xb5\x2f\xfd"sv, "zstd"},
    {"\x04\x22\x4d\x18"sv, "lz4"},
    {"\xfd"
     "7zXZ\0"sv,
     "xz"},
    {"BZh"sv, "bzip2"},
    {"PK\3\4"sv, "zip"},
};
constexpr Magic kCaptures[] = {
    {"snoop\0\0\0"sv, "a snoop capture"},
    {"RTSS"sv, "a Network Monitor 1 capture"},
    {"GMBU"sv, "a Network Monitor 2 capture"},
};

/// ERF has no magic: a record's type is a small number, and its length covers its own header.
bool looks_like_erf(View start) {
  if (start.size() < kStartBytes) return false;
  const int type = std::to_integer<int>(start[8]) & 0x7f;
  const int length = std::to_integer<int>(start[10]) << 8 | std::to_integer<int>(start[11]);
  return type > 0 && type <= 48 && length >= 16 && length % 8 == 0 && start[12] == std::byte{0};
}

/// Part of a sentence about a file with this start that is neither pcap nor pcapng.
std::string foreign_format(View start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.empty()) return "it is empty";
  for (const Magic& each : kCompressed) {
    if (text.starts_with(each.octets)) {
      return "it is compressed with " + std::string(each.what) + ": unpack it first";
    }
  }
  constexpr std::string_view kConvert = ": convert it with `editcap -F pcapng`";
  for (const Magic& each : kCaptures) {
    if (text.starts_with(each.octets)) {
      return "it is " + std::string(each.what) + ", not pcap or pcapng" + std::string(kConvert);
    }
  }
  if (looks_like_erf(start)) return "it may be an ERF file" + std::string(kConvert);
  return "it begins as neither pcap nor pcapng";
}

}  // namespace

Expected<CaptureFormat, FileError> recognize(OctetSource& source) {
  const View seen = source.look(kStartBytes);
  if (source.failure()) return Unexpected<FileError>(*source.failure());
  const View start = seen.first(std::min(seen.size(), kStartBytes));
  if (BlockReader::recognizes(start)) return PcapngReader();
  if (ClassicReader::recognizes(start)) {
    auto reader = ClassicReader::open(source);
    if (!reader) return Unexpected<FileError>(reader.error());
    return std::move(*reader);
  }
  return Unexpected<FileError>(
      FileError{FileFault::not_a_capture, source.name(), std::nullopt, foreign_format(start)});
}

}  // namespace steertag::capture
