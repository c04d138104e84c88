// Formats events as text.
#include "trace/describe.h"

#include <algorithm>
#include <array>

namespace steertag::trace {
namespace {

// Octets of a Send to show: the four fixed words of every transport header and the next three words
// (RFC 8166 4.2).
constexpr std::size_t kShownSendBytes = 28;
// Private data: an RFC 8797 message in full, with the words of enhanced MPA before it.
constexpr std::size_t kShownPrivateBytes = 16;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string hex(std::uint64_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) text += kDigits[value >> shift & 0xf];
  return text;
}

/// " [12345678 00000001 ...]", or nothing for no octets.
std::string words(View octets, std::size_t shown) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (octets.empty()) return {};
  std::string text = " [";
  const std::size_t end = std::min(octets.size(), shown);
  for (std::size_t i = 0; i < end; ++i) {
    if (i != 0 && i % 4 == 0) text += ' ';
    const auto octet = std::to_integer<unsigned>(octets[i]);
    text += kDigits[octet >> 4];
    text += kDigits[octet & 0xf];
  }
  if (end < octets.size()) text += " ...";
  return text + ']';
}

std::string octet_count(std::uint64_t count) {
  return ' ' + std::to_string(count) + (count == 1 ? " octet" : " octets");
}

std::string at(std::uint32_t stag, std::uint64_t offset) {
  return " STag " + hex(stag, 8) + " offset " + hex(offset, 16);
}

std::string private_data(View octets) {
  if (octets.empty()) return " without private data";
  return " with private data" + words(octets, kShownPrivateBytes);
}

std::string fields(const Body& body) {
  return std::visit(
      Overloaded{
          [](const Connect& value) { return private_data(value.private_data); },
          [](const Accept& value) { return private_data(value.private_data); },
          [](const Reject& value) { return private_data(value.private_data); },
          [](const Send& value) {
            std::string text =
                octet_count(value.bytes.size()) + words(value.bytes, kShownSendBytes);
            if (value.invalidated) text += " invalidates STag " + hex(*value.invalidated, 8);
            return text;
          },
          [](const RdmaWrite& value) {
            return octet_count(value.length) + " to" + at(value.stag, value.offset);
          },
          [](const RdmaRead& value) {
            return octet_count(value.length) + " from" + at(value.source_stag, value.source_offset);
          },
          [](const RdmaReadResponse& value) {
            return octet_count(value.length) + " to" + at(value.sink_stag, value.sink_offset);
          },
          [](const MemoryOffered& value) {
            return octet_count(value.length) + " at" + at(value.stag, value.base) +
                   (value.remote_read ? " for remote read" : "") +
                   (value.remote_write ? " for remote write" : "");
          },
          [](const MemoryInvalidated& value) {
            return " STag " + hex(value.stag, 8) + (value.guard_intact ? "" : ", guard broken");
          },
          [](const ReceivePosted& value) {
            return ' ' + std::to_string(value.count) + " of" + octet_count(value.size);
          },
          [](const Terminate& value) {
            return " layer " + std::to_string(value.layer) + " type " + std::to_string(value.type) +
                   " code " + std::to_string(value.code);
          },
          [](const Disconnect& value) { return std::string(value.clean ? " clean" : " abrupt"); },
          [](const RdmaReadRefused& value) {
            return ' ' + std::to_string(value.read) + ": layer " +
                   std::to_string(value.cause.layer) + " type " + std::to_string(value.cause.type) +
                   " code " + std::to_string(value.cause.code);
          },
      },
      body);
}

}  // namespace

std::string_view kind_name(const Body& body) {
  static constexpr std::array<std::string_view, std::variant_size_v<Body>> kNames = {
      "connect",
      "accept",
      "reject",
      "send",
      "rdma_write",
      "rdma_read",
      "rdma_read_response",
      "memory_offered",
      "memory_invalidated",
      "receive_posted",
      "terminate",
      "disconnect",
      "rdma_read_refused"};
  return kNames[body.index()];
}

std::string_view role_name(Role role) {
  return role == Role::client ? "client" : "server";
}

std::string describe(const Event& event) {
  return '#' + std::to_string(event.index) + ' ' + std::string(role_name(event.actor)) + ' ' +
         std::string(kind_name(event.body)) + fields(event.body);
}

}  // namespace steertag::trace
