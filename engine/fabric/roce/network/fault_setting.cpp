// Reads the variable.
#include "fabric/roce/network/fault_setting.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace steertag::fabric::roce {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view digits) {
  Number number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Expected<FaultSetting, Error> parse_fault_setting(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto percent = number_of<unsigned>(text.substr(0, colon));
  FaultSetting setting;
  if (colon != std::string_view::npos) {
    setting.seed = number_of<std::uint64_t>(text.substr(colon + 1));
  }
  const bool whole = colon == std::string_view::npos || setting.seed;
  if (!percent || *percent < 1 || *percent > kMostFaultPercent || !whole) {
    return tl::unexpected(Error{Errc::unsupported, std::string(kFaultVariable) + " is \"" +
                                                       std::string(text) +
                                                       "\" and not PERCENT[:SEED], from 1 to " +
                                                       std::to_string(kMostFaultPercent)});
  }
  setting.percent = *percent;
  return setting;
}

Expected<std::optional<FaultSetting>, Error> fault_setting() {
  const char* const text = std::getenv(kFaultVariable);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  auto setting = parse_fault_setting(text);
  if (!setting) {
    return tl::unexpected(std::move(setting.error()));
  }
  return *setting;
}

}  // namespace steertag::fabric::roce
