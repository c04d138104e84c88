// Builds the texts of findings from text and numbers.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/header.h"

namespace steertag::conformance {

/// A number to format as 0x and 8 hexadecimal digits, or 16 with `wide`.
struct Hex {
  std::uint64_t value = 0;
  bool wide = false;
};

void append(std::string& out, std::string_view text);
void append(std::string& out, Hex number);
void append(std::string& out, const wire::Segment& segment);
template <std::unsigned_integral Number>
void append(std::string& out, Number number) {
  out += std::to_string(number);
}

template <class... Parts>
std::string say(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

}  // namespace steertag::conformance
