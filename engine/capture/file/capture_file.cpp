// Calls the reader of the format, and keeps the error that ended the reading.
#include "capture/file/capture_file.h"

#include <utility>

#include "capture/file/options.h"

namespace steertag::capture {

CaptureFile::CaptureFile(OctetSource source, CaptureFormat format)
    : source_(std::move(source)), format_(std::move(format)) {}

Expected<CaptureFile, FileError> CaptureFile::open(const std::string& path,
                                                   Interrupted interrupted) {
  auto source = OctetSource::open(path, std::move(interrupted));
  if (!source) return Unexpected<FileError>(source.error());
  return over(std::move(*source));
}

Expected<CaptureFile, FileError> CaptureFile::open(View octets, std::string name) {
  return over(OctetSource(octets, std::move(name)));
}

Expected<CaptureFile, FileError> CaptureFile::over(OctetSource source) {
  auto format = recognize(source);
  if (!format) return Unexpected<FileError>(format.error());
  return CaptureFile(std::move(source), std::move(*format));
}

Expected<std::optional<Packet>, FileError> CaptureFile::next() {
  if (error_) return Unexpected<FileError>(*error_);
  auto* pcapng = std::get_if<PcapngReader>(&format_);
  auto packet =
      pcapng != nullptr ? next_of(*pcapng) : std::get<ClassicReader>(format_).next(source_);
  if (!packet) error_ = packet.error();
  return packet;
}

Expected<std::optional<Packet>, FileError> CaptureFile::next_of(PcapngReader& reader) {
  // The loop ends with the file: every block consumes octets.
  while (true) {
    const auto block = reader.next(source_);
    if (!block) return Unexpected<FileError>(block.error());
    if (!*block) return std::optional<Packet>();
    if (reader.frame() && reader.frame()->packet) return reader.frame()->packet;
  }
}

std::vector<std::string_view> CaptureFile::comments() const {
  std::vector<std::string_view> found;
  const auto* pcapng = std::get_if<PcapngReader>(&format_);
  if (pcapng == nullptr || !pcapng->frame()) return found;
  View rest = pcapng->frame()->options;
  while (const auto option = take_option(rest, pcapng->order())) {
    if (option->code != option_code::kComment) continue;
    found.emplace_back(reinterpret_cast<const char*>(option->value.data()), option->value.size());
  }
  return found;
}

}  // namespace steertag::capture
