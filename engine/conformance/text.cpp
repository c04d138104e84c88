// Formats the parts of findings' texts.
#include "conformance/text.h"

namespace steertag::conformance {

void append(std::string& out, std::string_view text) {
  out += text;
}

void append(std::string& out, Hex number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "0x";
  for (int shift = number.wide ? 60 : 28; shift >= 0; shift -= 4) {
    out += kDigits[(number.value >> shift) & 0xf];
  }
}

void append(std::string& out, const wire::Segment& segment) {
  out += "handle ";
  append(out, Hex{segment.handle});
  out += " length ";
  append(out, segment.length);
  out += " offset ";
  append(out, Hex{segment.offset, true});
}

}  // namespace steertag::conformance
