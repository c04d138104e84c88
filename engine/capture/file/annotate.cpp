// Copies blocks as they are, and rewrites only those of frames with comments.
#include "capture/file/annotate.h"

#include <algorithm>
#include <array>
#include <limits>

#include "capture/file/capture_format.h"
#include "capture/file/options.h"
#include "capture/file/whole_file.h"
#include "trace/pcapng.h"

namespace steertag::capture {
namespace {

constexpr std::size_t kSectionLengthAt = kBlockHeadBytes + 8;
constexpr std::size_t kSectionLengthBytes = 8;
constexpr std::uint16_t kUnknownDrops = 0xffff;

/// The comments of one frame after the other, in frame order.
class Pending {
 public:
  explicit Pending(const FrameComments& comments) : next_(comments.begin()), end_(comments.end()) {}
  /// Comments of the frame, or nullptr. Call it with ascending frame numbers.
  const std::vector<std::string>* take(std::uint64_t frame) {
    while (next_ != end_ && next_->first < frame) ++next_;
    return next_ != end_ && next_->first == frame && !next_->second.empty() ? &next_->second
                                                                            : nullptr;
  }

 private:
  FrameComments::const_iterator next_;
  FrameComments::const_iterator end_;
};

/// Writes the copy of a pcapng file.
class BlockCopier {
 public:
  BlockCopier(std::ostream& out, const FrameComments& comments) : out_(out), pending_(comments) {}

  void copy(const Block& block, const PcapngReader& reader, Annotated& annotated) {
    if (block.type == block_type::kSectionHeader) return copy_section(block);
    if (!reader.frame()) return copy_octets(block.whole);
    const Frame& frame = *reader.frame();
    ++annotated.frames;
    const auto* comments = pending_.take(frame.number);
    if (comments == nullptr || !frame.packet) return copy_octets(block.whole);
    ++annotated.commented;
    write_packet(block, frame, reader.order(), *comments);
  }

 private:
  void copy_octets(View octets) {
    out_.write(reinterpret_cast<const char*>(octets.data()),
               static_cast<std::streamsize>(octets.size()));
  }

  /// Comments make the section longer. Its length becomes "unknown", which the format allows.
  void copy_section(const Block& block) {
    constexpr std::byte kOnes{0xff};
    std::array<std::byte, kSectionLengthBytes> unknown;
    unknown.fill(kOnes);
    copy_octets(block.whole.first(kSectionLengthAt));
    copy_octets(unknown);
    copy_octets(block.whole.subspan(kSectionLengthAt + kSectionLengthBytes));
  }

  void write_packet(const Block& block, const Frame& frame, ByteOrder order,
                    const std::vector<std::string>& comments) {
    const Packet& packet = *frame.packet;
    const auto captured = static_cast<std::uint32_t>(packet.octets.size());
    block_.begin(block_type::kEnhancedPacket, order.swapped);
    block_.put32(frame.interface);
    block_.put32(static_cast<std::uint32_t>(frame.time >> 32));
    block_.put32(static_cast<std::uint32_t>(frame.time));
    block_.put32(captured);
    block_.put32(frame.wire_bytes);
    block_.put_octets(packet.octets);
    block_.put_comments(comments);
    if (block.type == block_type::kObsoletePacket) put_drops(order.load16(block.body.data() + 2));
    // The end of the options is copied too; it may be missing.
    if (frame.options.empty()) {
      block_.put_end_of_options();
    } else {
      block_.put_octets(frame.options);
    }
    block_.write(out_);
  }

  /// Packets dropped since the last one: a field of the obsolete block, an option of the new one.
  void put_drops(std::uint16_t drops) {
    if (drops == kUnknownDrops) return;
    block_.put16(option_code::kDropCount);
    block_.put16(sizeof(std::uint64_t));
    block_.put64(drops);
  }

  std::ostream& out_;
  Pending pending_;
  trace::PcapngBlock block_;
};

Expected<Annotated, FileError> copy(PcapngReader& reader, OctetSource& input, std::ostream& out,
                                    const FrameComments& comments) {
  Annotated annotated;
  BlockCopier copier(out, comments);
  while (out) {
    const auto block = reader.next(input);
    if (!block) annotated.damage = block.error();
    if (!block || !*block) break;
    copier.copy(**block, reader, annotated);
  }
  return annotated;
}

Expected<Annotated, FileError> copy(ClassicReader& reader, OctetSource& input, std::ostream& out,
                                    const FrameComments& comments, std::string_view application) {
  const auto link_type = static_cast<std::uint32_t>(reader.link_type());
  if (link_type > std::numeric_limits<std::uint16_t>::max()) {
    return Unexpected<FileError>(FileError{FileFault::damaged, input.name(), 20,
                                           "the link type " + std::to_string(link_type) +
                                               " is more than the 16 bits that pcapng has for it"});
  }
  Annotated annotated;
  Pending pending(comments);
  trace::PcapngWriter writer(out, application);
  const bool nanoseconds = reader.nanoseconds();
  writer.add_interface(static_cast<trace::LinkType>(link_type), {},
                       nanoseconds ? trace::TimeUnit::nanoseconds : trace::TimeUnit::microseconds);
  while (out) {
    const auto packet = reader.next(input);
    if (!packet) annotated.damage = packet.error();
    if (!packet || !*packet) break;
    const auto* mine = pending.take((*packet)->stamp.frame);
    const auto time = static_cast<std::uint64_t>((*packet)->stamp.time_ns);
    ++annotated.frames;
    if (mine != nullptr) ++annotated.commented;
    writer.add_packet(
        0,
        {nanoseconds ? time : time / 1000, (*packet)->octets,
         static_cast<std::uint32_t>((*packet)->wire_bytes)},
        mine != nullptr ? std::span<const std::string>(*mine) : std::span<const std::string>());
  }
  return annotated;
}

}  // namespace

Expected<Annotated, FileError> annotate(OctetSource& input, std::ostream& out,
                                        const FrameComments& comments,
                                        std::string_view application) {
  auto format = recognize(input);
  if (!format) return Unexpected<FileError>(format.error());
  if (auto* pcapng = std::get_if<PcapngReader>(&*format)) {
    return copy(*pcapng, input, out, comments);
  }
  return copy(std::get<ClassicReader>(*format), input, out, comments, application);
}

Expected<Annotated, FileError> annotate(const std::string& input, const std::string& output,
                                        const FrameComments& comments,
                                        std::string_view application) {
  auto source = OctetSource::open(input);
  if (!source) return Unexpected<FileError>(source.error());
  if (source->is_also(output)) {
    return Unexpected<FileError>(
        FileError{FileFault::cannot_write, output, std::nullopt,
                  "it is the input: a copy with comments needs another name"});
  }
  auto file = WholeFile::create(output);
  if (!file) return Unexpected<FileError>(file.error());
  auto annotated = annotate(*source, file->out(), comments, application);
  if (!annotated) return annotated;
  if (const auto committed = file->commit(); !committed)
    return Unexpected<FileError>(committed.error());
  return annotated;
}

}  // namespace steertag::capture
