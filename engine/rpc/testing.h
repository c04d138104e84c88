// Test helpers of structs with field lists: encoding, the start of a call, generators.
//
// The rapidcheck generators use the lists of fields.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <string>

#include "rpc/fields.h"
#include "rpc/message.h"
#include "wire/testing.h"

namespace steertag::rpc::testing {

using wire::testing::from_hex;
using wire::testing::to_hex;

/// Longest string, opaque and list of the generator; the limits have tests of their own.
inline constexpr std::size_t kLongestItem = 40;
inline constexpr std::size_t kLongestList = 4;

/// Owns the octets that generated views point into.
using Arena = std::deque<Bytes>;

inline View any_octets(Arena& arena, std::size_t limit) {
  const std::size_t most = std::min(limit, kLongestItem);
  const std::size_t length = *rc::gen::inRange<std::size_t>(0, most + 1);
  Bytes& octets = arena.emplace_back(length);
  for (std::byte& octet : octets) octet = std::byte{*rc::gen::arbitrary<std::uint8_t>()};
  return octets;
}

template <class T>
struct Any;

template <class T>
T any(Arena& arena, std::size_t limit = 0) {
  return Any<T>::value(arena, limit);
}

template <class T>
struct Any {
  static T value(Arena& arena, std::size_t limit) {
    if constexpr (Fielded<T>) {
      T made{};
      T::kFields.for_each([&](const auto& field) {
        made.*field.member =
            any<std::remove_cvref_t<decltype(made.*field.member)>>(arena, field.limit);
      });
      return made;
    } else if constexpr (Bounded<T>) {
      T made;
      const std::size_t most = std::min(T::kMostItems, kLongestList);
      const std::size_t length = *rc::gen::inRange<std::size_t>(0, most + 1);
      for (std::size_t i = 0; i < length; ++i) made.push_back(any<typename T::value_type>(arena));
      return made;
    } else if constexpr (Holder<T>) {
      T made;
      made.assign(any_octets(arena, T::kLimit));
      return made;
    } else if constexpr (std::is_same_v<T, View>) {
      return any_octets(arena, limit);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      const View octets = any_octets(arena, limit);
      return {reinterpret_cast<const char*>(octets.data()), octets.size()};
    } else if constexpr (std::is_enum_v<T>) {
      const auto names = names_of(T{});
      return names[*rc::gen::inRange<std::size_t>(0, names.size())].value;
    } else {
      return *rc::gen::arbitrary<T>();
    }
  }
};
template <std::size_t kSize>
struct Any<std::array<std::byte, kSize>> {
  static std::array<std::byte, kSize> value(Arena&, std::size_t) {
    std::array<std::byte, kSize> made;
    for (std::byte& octet : made) octet = std::byte{*rc::gen::arbitrary<std::uint8_t>()};
    return made;
  }
};
template <class T>
struct Any<std::optional<T>> {
  static std::optional<T> value(Arena& arena, std::size_t limit) {
    if (!*rc::gen::arbitrary<bool>()) return std::nullopt;
    return any<T>(arena, limit);
  }
};
template <class T>
struct Any<std::vector<T>> {
  static std::vector<T> value(Arena& arena, std::size_t limit) {
    const std::size_t length = *rc::gen::inRange<std::size_t>(0, std::min(limit, kLongestList) + 1);
    std::vector<T> made;
    for (std::size_t i = 0; i < length; ++i) made.push_back(any<T>(arena, limit));
    return made;
  }
};
template <class T>
struct Any<Chain<T>> {
  static Chain<T> value(Arena& arena, std::size_t limit) {
    return {Any<std::vector<T>>::value(arena, limit)};
  }
};

template <class T>
Bytes encoded(const T& value) {
  Bytes octets;
  wire::Writer writer(octets);
  value.encode(writer);
  return octets;
}

/// A value and its complete octets.
template <class T>
T decoded(const Bytes& octets) {
  wire::Reader reader(octets);
  T value{};
  value.decode(reader);
  EXPECT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(reader.remaining(), 0u);
  return value;
}

/// Octets in hex, grouped as by to_hex, for any grouping of `text`.
inline std::string joined(std::string_view text) {
  return to_hex(from_hex(text));
}

/// The RPC header of a call with XID 1 and without credentials, before its arguments.
inline Bytes call_header(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
  CallHeader header;
  header.xid = 1;
  header.program = program;
  header.version = version;
  header.procedure = procedure;
  return encoded(header);
}

/// A reply with success and these results.
template <class Result>
Bytes reply_of(const Result& result) {
  Bytes octets;
  wire::Writer writer(octets);
  ReplyHeader::accepted(1, AcceptStatus::SUCCESS).encode(writer);
  result.encode(writer);
  return octets;
}

/// The fault of decoding the octets as a T; code none if they decode.
template <class T>
wire::Fault fault_of(View octets) {
  wire::Reader reader(octets);
  T value{};
  value.decode(reader);
  return reader.fault();
}

/// Checks inside a property that octets decode completely and encode to themselves. Every shorter
/// prefix must be a fault inside the prefix.
template <class T>
void check_codec(const Bytes& octets) {
  wire::Reader reader(octets);
  T value{};
  value.decode(reader);
  if (!reader.ok()) RC_FAIL("legal octets " + to_hex(octets) + ": " + reader.fault().message());
  RC_ASSERT(reader.remaining() == 0u);
  RC_ASSERT(to_hex(encoded(value)) == to_hex(octets));
  for (std::size_t length = 0; length < octets.size(); ++length) {
    const wire::Fault fault = fault_of<T>(View{octets}.first(length));
    if (!fault)
      RC_FAIL("decoded from only " + std::to_string(length) + " octets of " + to_hex(octets));
    RC_ASSERT(fault.offset <= length);
    RC_ASSERT(!fault.field.empty());
  }
}

}  // namespace steertag::rpc::testing
