// Lays out pcapng blocks: type, length, body, options, length again; everything padded to 32 bits.
#include "trace/pcapng.h"

#include <algorithm>
#include <cstring>

#include "support/roundup.h"

namespace steertag::trace {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;

constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kUserApplication = 4;
constexpr std::uint16_t kTimestampResolution = 9;

constexpr std::byte kNanoseconds{9};  // 10^-9 s

View octets_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Cuts at the limit, but never inside a UTF-8 sequence: its continuation octets are 10xxxxxx.
std::string_view cut_comment(std::string_view text) {
  if (text.size() <= kMaxCommentBytes) return text;
  std::size_t end = kMaxCommentBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

PcapngWriter::PcapngWriter(std::ostream& out, std::string_view application,
                           std::span<const std::string> comments)
    : out_(out) {
  begin_block(kSectionHeader);
  put32(kByteOrderMagic);
  put16(1);  // version 1.0
  put16(0);
  put32(0xffffffff);  // section length unknown (64 bits)
  put32(0xffffffff);
  put_comments(comments);
  put_option(kUserApplication, octets_of(cut_comment(application)));
  put_option(kEndOfOptions, {});
  end_block();
}

std::uint32_t PcapngWriter::add_interface(LinkType link_type, std::string_view name) {
  begin_block(kInterfaceDescription);
  put16(static_cast<std::uint16_t>(link_type));
  put16(0);
  put32(0);  // no limit on the packet's length
  put_option(kInterfaceName, octets_of(cut_comment(name)));
  put_option(kTimestampResolution, View(&kNanoseconds, 1));
  put_option(kEndOfOptions, {});
  end_block();
  return interfaces_++;
}

void PcapngWriter::add_packet(std::uint32_t interface, std::int64_t time_ns, View packet,
                              std::span<const std::string> comments) {
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  begin_block(kEnhancedPacket);
  put32(interface);
  put32(static_cast<std::uint32_t>(time >> 32));
  put32(static_cast<std::uint32_t>(time));
  put32(static_cast<std::uint32_t>(packet.size()));  // captured
  put32(static_cast<std::uint32_t>(packet.size()));  // on the wire
  put_octets(packet);
  if (!comments.empty()) {
    put_comments(comments);
    put_option(kEndOfOptions, {});
  }
  end_block();
}

void PcapngWriter::begin_block(std::uint32_t type) {
  block_.clear();
  put32(type);
  put32(0);  // the length, filled in by end_block
}

void PcapngWriter::end_block() {
  const auto length = static_cast<std::uint32_t>(block_.size() + 4);
  put32(length);
  std::memcpy(block_.data() + 4, &length, sizeof length);
  out_.write(reinterpret_cast<const char*>(block_.data()),
             static_cast<std::streamsize>(block_.size()));
}

void PcapngWriter::put16(std::uint16_t value) {
  const auto octets = std::as_bytes(std::span(&value, 1));
  block_.insert(block_.end(), octets.begin(), octets.end());
}

void PcapngWriter::put32(std::uint32_t value) {
  const auto octets = std::as_bytes(std::span(&value, 1));
  block_.insert(block_.end(), octets.begin(), octets.end());
}

void PcapngWriter::put_octets(View octets) {
  block_.insert(block_.end(), octets.begin(), octets.end());
  block_.resize(roundup4(block_.size()));
}

void PcapngWriter::put_option(std::uint16_t code, View value) {
  put16(code);
  put16(static_cast<std::uint16_t>(value.size()));
  put_octets(value);
}

void PcapngWriter::put_comments(std::span<const std::string> comments) {
  for (const std::string& comment : comments.first(std::min(comments.size(), kMaxComments)))
    put_option(kComment, octets_of(cut_comment(comment)));
}

}  // namespace steertag::trace
