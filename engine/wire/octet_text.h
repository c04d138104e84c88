// The text format of numbers and octets in messages.
#pragma once

#include <string>
#include <string_view>

#include "support/bytes.h"

namespace steertag::wire {

/// "0x0000002a": at least this many hexadecimal digits, at most 16.
std::string hex(std::uint64_t value, std::size_t digits);

/// Appends lines: the title with the number of octets, and the first kMostDescribedBytes of them,
/// 16 to a line. `offset` is the place of `bytes` in the message.
void append_octets(std::string& text, std::string_view title, View bytes, std::size_t offset);

}  // namespace steertag::wire
