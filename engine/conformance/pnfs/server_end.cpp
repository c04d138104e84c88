// Compares ends of connections with universal addresses.
#include "conformance/pnfs/server_end.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "conformance/text.h"

namespace steertag::conformance {

namespace {

struct Address {
  std::string_view host;
  std::uint32_t port = 0;
};

/// Takes ".NUMBER" from the end.
std::optional<std::uint32_t> take_octet(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(dot + 1);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > 255) {
    return std::nullopt;
  }
  text = text.substr(0, dot);
  return value;
}

std::optional<Address> read_universal(std::string_view text) {
  const auto low = take_octet(text);
  const auto high = low ? take_octet(text) : std::nullopt;
  if (!high || text.empty()) return std::nullopt;
  return Address{text, *high << 8 | *low};
}

std::string text_of(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string_view::npos;
  return is_v6 ? say("[", address.host, "]:", address.port) : say(address.host, ":", address.port);
}

}  // namespace

std::string readable_address(std::string_view universal) {
  const auto address = read_universal(universal);
  return address ? text_of(*address) : std::string(universal);
}

std::vector<std::size_t> lists_with(std::string_view end, const nfs4::FileLayoutDevice& device) {
  const std::size_t space = end.find(' ');
  const std::string_view host = end.substr(0, space);
  const bool has_port = space == std::string_view::npos;
  std::vector<std::size_t> lists;
  for (std::size_t i = 0; i < device.nflda_multipath_ds_list.size(); ++i) {
    const auto is_end = [&](const nfs4::NetAddr& each) {
      const auto address = read_universal(each.na_r_addr);
      return address && (has_port ? text_of(*address) == end : address->host == host);
    };
    if (std::ranges::any_of(device.nflda_multipath_ds_list[i].addresses, is_end)) {
      lists.push_back(i);
    }
  }
  if (!has_port && lists.size() > 1) lists.clear();
  return lists;
}

}  // namespace steertag::conformance
