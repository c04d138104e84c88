// The layout: everything is padded to 32 bits, and the length is at both ends.
#include "trace/pcapng_block.h"

#include <algorithm>
#include <cstring>

#include "support/roundup.h"

namespace steertag::trace {
namespace {

constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::size_t kLengthAt = 4;

// Truncates at the limit, and never inside a UTF-8 sequence: continuation octets are 10xxxxxx.
std::string_view cut_comment(std::string_view text) {
  if (text.size() <= kMaxCommentBytes) return text;
  std::size_t end = kMaxCommentBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

void PcapngBlock::begin(std::uint32_t type, bool swapped) {
  octets_.clear();
  swapped_ = swapped;
  put32(type);
  put32(0);  // the length, filled in by write()
}

template <class Integer>
void PcapngBlock::put(Integer value) {
  auto octets = std::as_writable_bytes(std::span(&value, 1));
  if (swapped_) std::ranges::reverse(octets);
  octets_.insert(octets_.end(), octets.begin(), octets.end());
}

void PcapngBlock::put16(std::uint16_t value) {
  put(value);
}

void PcapngBlock::put32(std::uint32_t value) {
  put(value);
}

void PcapngBlock::put64(std::uint64_t value) {
  put(value);
}

void PcapngBlock::put_octets(View octets) {
  octets_.insert(octets_.end(), octets.begin(), octets.end());
  octets_.resize(roundup4(octets_.size()));
}

void PcapngBlock::put_option(std::uint16_t code, View value) {
  put16(code);
  put16(static_cast<std::uint16_t>(value.size()));
  put_octets(value);
}

void PcapngBlock::put_text(std::uint16_t code, std::string_view text) {
  put_option(code, std::as_bytes(std::span(cut_comment(text))));
}

void PcapngBlock::put_comments(std::span<const std::string> comments) {
  for (const std::string& each : comments.first(std::min(comments.size(), kMaxComments))) {
    put_text(kComment, each);
  }
}

void PcapngBlock::put_end_of_options() {
  put_option(kEndOfOptions, {});
}

void PcapngBlock::write(std::ostream& out) {
  put32(static_cast<std::uint32_t>(octets_.size() + 4));
  std::memcpy(octets_.data() + kLengthAt, octets_.data() + octets_.size() - 4, 4);
  out.write(reinterpret_cast<const char*>(octets_.data()),
            static_cast<std::streamsize>(octets_.size()));
}

}  // namespace steertag::trace
