// Numbers and octets as text.
#include "wire/octet_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "wire/describe.h"

namespace steertag::wire {

namespace {

constexpr std::size_t kOctetsPerLine = 16;

}  // namespace

std::string hex(std::uint64_t value, std::size_t digits) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, 16).ptr;
  const auto used = static_cast<std::size_t>(end - text.data());
  return "0x" + std::string(digits > used ? digits - used : 0, '0').append(text.data(), used);
}

void append_octets(std::string& text, std::string_view title, View bytes, std::size_t offset) {
  text += title;
  text += ' ' + std::to_string(bytes.size()) + " octets\n";
  const View shown = bytes.first(std::min(bytes.size(), kMostDescribedBytes));
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i % kOctetsPerLine == 0) {
      if (i > 0) text += '\n';
      text += "  " + hex(offset + i, 4) + ' ';
    }
    if (i % 4 == 0) text += ' ';
    text += hex(std::to_integer<unsigned>(shown[i]), 2).substr(2);
  }
  if (!shown.empty()) text += '\n';
  if (shown.size() < bytes.size()) {
    text += "  ... " + std::to_string(bytes.size() - shown.size()) + " more\n";
  }
}

}  // namespace steertag::wire
