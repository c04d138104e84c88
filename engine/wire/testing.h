// Test helpers of messages: octets from hexadecimal text, and generators of legal headers.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>

#include "wire/draft.h"
#include "wire/header.h"

namespace steertag::wire::testing {

inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// Octets of lower-case hexadecimal text; all other characters separate.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  return bytes;
}

/// Hexadecimal text in groups of four octets.
inline std::string to_hex(View bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 4 == 0) text += ' ';
    text += kDigits[std::to_integer<std::size_t>(bytes[i] >> 4)];
    text += kDigits[std::to_integer<std::size_t>(bytes[i] & std::byte{15})];
  }
  return text;
}

inline Bytes encoded(const Header& header) {
  Bytes bytes;
  encode(header, bytes);
  return bytes;
}

inline Bytes encoded(const Draft& draft) {
  Bytes bytes;
  encode(draft, bytes);
  return bytes;
}

inline Bytes joined(Bytes left, View right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline rc::Gen<Segment> any_segment() {
  return rc::gen::build<Segment>(rc::gen::set(&Segment::handle), rc::gen::set(&Segment::length),
                                 rc::gen::set(&Segment::offset));
}

inline std::vector<Segment> any_chunk() {
  return *rc::gen::resize(8, rc::gen::container<std::vector<Segment>>(any_segment()));
}

inline Bytes any_bytes(int most) {
  const auto values = *rc::gen::resize(most, rc::gen::arbitrary<std::vector<std::uint8_t>>());
  Bytes bytes;
  for (const std::uint8_t value : values) bytes.push_back(std::byte{value});
  return bytes;
}

/// A legal header of any procedure that `decode` accepts. Call it inside a property.
inline Header any_legal_header() {
  Header header;
  header.xid = *rc::gen::arbitrary<std::uint32_t>();
  header.credit = *rc::gen::arbitrary<std::uint32_t>();
  header.proc =
      *rc::gen::element(Procedure::msg, Procedure::nomsg, Procedure::msgp, Procedure::error);
  if (header.proc == Procedure::error) {
    header.error = *rc::gen::element(ErrorCode::vers, ErrorCode::chunk);
    if (header.error == ErrorCode::vers) {
      header.vers = *rc::gen::arbitrary<std::uint32_t>();
      header.vers_low = *rc::gen::arbitrary<std::uint32_t>();
      header.vers_high = *rc::gen::arbitrary<std::uint32_t>();
    }
    return header;
  }
  if (header.proc == Procedure::msgp) {
    header.align = *rc::gen::arbitrary<std::uint32_t>();
    header.thresh = *rc::gen::arbitrary<std::uint32_t>();
  }
  for (const Segment& each : any_chunk()) {
    header.read_list.push_back({*rc::gen::arbitrary<std::uint32_t>() & ~3u, each});
  }
  const auto chunks = *rc::gen::inRange(0, 4);
  for (int i = 0; i < chunks; ++i) header.write_list.add(any_chunk());
  header.has_reply_chunk = *rc::gen::arbitrary<bool>();
  if (header.has_reply_chunk) header.reply_chunk = any_chunk();
  const bool chunkless =
      header.read_list.empty() && header.write_list.empty() && !header.has_reply_chunk;
  if (header.proc == Procedure::nomsg && chunkless) header.has_reply_chunk = true;
  return header;
}

/// A payload stream that the header's procedure can carry.
inline Bytes any_payload(const Header& header) {
  const bool carries = header.proc == Procedure::msg || header.proc == Procedure::msgp;
  return carries ? any_bytes(60) : Bytes{};
}

}  // namespace steertag::wire::testing

namespace rc {

template <>
struct Arbitrary<steertag::wire::Header> {
  static Gen<steertag::wire::Header> arbitrary() {
    return gen::exec([] { return steertag::wire::testing::any_legal_header(); });
  }
};

}  // namespace rc

namespace steertag::wire {

/// GoogleTest and rapidcheck use this to print headers, and octets under their own names.
inline void showValue(const Header& header, std::ostream& out) {
  out << testing::to_hex(testing::encoded(header));
}

}  // namespace steertag::wire
