// XDR of a struct or union from its one list of fields.
//
// The same list gives decoding, encoding, the names in faults, Python classes and property
// generators.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/bytes.h"
#include "support/entries.h"
#include "wire/xdr.h"

namespace steertag::rpc {

/// One member of a struct: the RFC's name, the member, and the limit of its type. The limit counts
/// octets of a string or opaque, and elements of an array or chain. It is 0 for other types.
template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  std::size_t limit = 0;
};
template <class Struct, class Member>
Field(std::string_view, Member Struct::*) -> Field<Struct, Member>;
template <class Struct, class Member>
Field(std::string_view, Member Struct::*, std::size_t) -> Field<Struct, Member>;

/// One arm of a discriminated union (RFC 4506 4.15). The member is on the wire only if the
/// discriminant has one of the values `kTags`. The discriminant is the first field of the struct's
/// list, and arms follow it; write them with `arm`. A discriminant without an arm is void. A union
/// without a default arm therefore needs a discriminant type with no other values.
template <class Struct, class Member, auto... kTags>
struct Arm : Field<Struct, Member> {
  template <class Tag>
  static constexpr bool selected_by(const Tag& tag) {
    return ((tag == kTags) || ...);
  }
};

/// `arm<NF4BLK, NF4CHR>("devdata", &CreateType::devdata)`
template <auto... kTags, class Struct, class Member>
constexpr Arm<Struct, Member, kTags...> arm(std::string_view name, Member Struct::*member,
                                            std::size_t limit = 0) {
  return {{name, member, limit}};
}

/// True for a list entry that is an arm.
template <class Entry>
inline constexpr bool kIsArm = false;
template <class Struct, class Member, auto... kTags>
inline constexpr bool kIsArm<Arm<Struct, Member, kTags...>> = true;

/// An enumerator and its name in the RFC. Every decoded enumeration has an overload `names_of(E)`
/// with a complete list: any other value is a `bad_enum` fault. An enumeration over an open
/// registry has an overload `is_open(E)` too. Decoding then accepts every number.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};

/// The RFC's name of `value`, or "" for an undefined value.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view name(Enum value) {
  for (const auto& entry : names_of(value)) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

/// The void arm of a union, and empty arguments or results of a procedure.
struct Void {
  void decode(wire::Reader&) {}
  void encode(wire::Writer&) const {}
  static constexpr Entries<> kFields{};
};

/// XDR optional-data used as a linked list (RFC 4506 4.19): 1 item 1 item ... 0.
template <class Item>
struct Chain {
  std::vector<Item> items;
};

/// A variable-length array with the limit in its type: BoundedArray, or a type made from it.
template <class T>
concept Bounded = requires(T& value, const typename T::value_type& item) {
  { T::kMostItems } -> std::convertible_to<std::size_t>;
  { value.push_back(item) } -> std::same_as<bool>;
  value.clear();
};

/// A struct or union with its own codec and a list of fields.
template <class T>
concept Fielded = requires(T& value, wire::Reader& reader, wire::Writer& writer) {
  T::kFields;
  value.decode(reader);
  std::as_const(value).encode(writer);
};

/// An opaque type of limited size that stores its octets (a file handle).
template <class T>
concept Holder = requires(T& value, View bytes) {
  { T::kLimit } -> std::convertible_to<std::size_t>;
  { std::as_const(value).view() } -> std::same_as<View>;
  { value.assign(bytes) } -> std::same_as<bool>;
};

inline void decode_value(wire::Reader& reader, std::uint32_t& to, std::string_view name,
                         std::size_t /*limit*/) {
  to = reader.u32(name);
}
inline void decode_value(wire::Reader& reader, std::uint64_t& to, std::string_view name,
                         std::size_t /*limit*/) {
  to = reader.u64(name);
}
inline void decode_value(wire::Reader& reader, std::int32_t& to, std::string_view name,
                         std::size_t /*limit*/) {
  to = static_cast<std::int32_t>(reader.u32(name));
}
inline void decode_value(wire::Reader& reader, std::int64_t& to, std::string_view name,
                         std::size_t /*limit*/) {
  to = static_cast<std::int64_t>(reader.u64(name));
}
inline void decode_value(wire::Reader& reader, bool& to, std::string_view name,
                         std::size_t /*limit*/) {
  to = reader.boolean(name);
}
inline void decode_value(wire::Reader& reader, std::string_view& to, std::string_view name,
                         std::size_t limit) {
  to = reader.string(limit, name);
}
inline void decode_value(wire::Reader& reader, View& to, std::string_view name, std::size_t limit) {
  to = reader.opaque(limit, name);
}
template <std::size_t kSize>
void decode_value(wire::Reader& reader, std::array<std::byte, kSize>& to, std::string_view name,
                  std::size_t /*limit*/) {
  const View octets = reader.opaque_fixed(kSize, name);
  if (reader.ok()) std::copy(octets.begin(), octets.end(), to.begin());
}
template <Holder T>
void decode_value(wire::Reader& reader, T& to, std::string_view name, std::size_t /*limit*/) {
  to.assign(reader.opaque(T::kLimit, name));
}
template <class Enum>
requires std::is_enum_v<Enum>
void decode_value(wire::Reader& reader, Enum& to, std::string_view name, std::size_t /*limit*/) {
  const std::size_t at = reader.offset();
  to = static_cast<Enum>(reader.u32(name));
  if constexpr (requires { is_open(to); }) return;
  if (reader.judges_values() && rpc::name(to).empty()) {
    reader.fail(wire::FaultCode::bad_enum, at, name);
  }
}
template <Fielded T>
void decode_value(wire::Reader& reader, T& to, std::string_view /*name*/, std::size_t /*limit*/) {
  to.decode(reader);
}
template <class T>
void decode_value(wire::Reader& reader, std::optional<T>& to, std::string_view name,
                  std::size_t limit) {
  to.reset();
  if (reader.boolean(name)) decode_value(reader, to.emplace(), name, limit);
}
template <class T>
void decode_value(wire::Reader& reader, std::vector<T>& to, std::string_view name,
                  std::size_t limit) {
  constexpr std::size_t kSmallestElement = 4;  // no XDR element is smaller than a word
  const std::uint32_t count = reader.count(kSmallestElement, limit, name);
  to.clear();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    decode_value(reader, to.emplace_back(), name, limit);
  }
}
template <Bounded T>
void decode_value(wire::Reader& reader, T& to, std::string_view name, std::size_t /*limit*/) {
  constexpr std::size_t kSmallestElement = 4;  // no XDR element is smaller than a word
  const std::uint32_t count = reader.count(kSmallestElement, T::kMostItems, name);
  to.clear();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    typename T::value_type item{};
    decode_value(reader, item, name, 0);
    to.push_back(item);
  }
}
template <class T>
void decode_value(wire::Reader& reader, Chain<T>& to, std::string_view name, std::size_t limit) {
  to.items.clear();
  for (;;) {
    const std::size_t at = reader.offset();
    if (!reader.boolean(name)) return;
    if (reader.judges_values() && to.items.size() == limit) {
      reader.fail(wire::FaultCode::limit_exceeded, at, name);
      return;
    }
    decode_value(reader, to.items.emplace_back(), name, limit);
  }
}

inline void encode_value(wire::Writer& writer, std::uint32_t value) {
  writer.u32(value);
}
inline void encode_value(wire::Writer& writer, std::uint64_t value) {
  writer.u64(value);
}
inline void encode_value(wire::Writer& writer, std::int32_t value) {
  writer.u32(static_cast<std::uint32_t>(value));
}
inline void encode_value(wire::Writer& writer, std::int64_t value) {
  writer.u64(static_cast<std::uint64_t>(value));
}
inline void encode_value(wire::Writer& writer, bool value) {
  writer.boolean(value);
}
inline void encode_value(wire::Writer& writer, std::string_view value) {
  writer.string(value);
}
inline void encode_value(wire::Writer& writer, View value) {
  writer.opaque(value);
}
template <std::size_t kSize>
void encode_value(wire::Writer& writer, const std::array<std::byte, kSize>& value) {
  writer.opaque_fixed(value);
}
template <Holder T>
void encode_value(wire::Writer& writer, const T& value) {
  writer.opaque(value.view());
}
template <class Enum>
requires std::is_enum_v<Enum>
void encode_value(wire::Writer& writer, Enum value) {
  writer.u32(static_cast<std::uint32_t>(value));
}
template <Fielded T>
void encode_value(wire::Writer& writer, const T& value) {
  value.encode(writer);
}
template <class T>
void encode_value(wire::Writer& writer, const std::optional<T>& value) {
  writer.boolean(value.has_value());
  if (value) encode_value(writer, *value);
}
template <class T>
void encode_value(wire::Writer& writer, const std::vector<T>& value) {
  writer.u32(static_cast<std::uint32_t>(value.size()));
  for (const T& item : value) encode_value(writer, item);
}
template <Bounded T>
void encode_value(wire::Writer& writer, const T& value) {
  writer.u32(static_cast<std::uint32_t>(value.size()));
  for (const auto& item : value) encode_value(writer, item);
}
template <class T>
void encode_value(wire::Writer& writer, const Chain<T>& value) {
  for (const T& item : value.items) {
    writer.boolean(true);
    encode_value(writer, item);
  }
  writer.boolean(false);
}

template <class Struct, class Member>
void decode_field(wire::Reader& reader, Struct& to, const Field<Struct, Member>& field) {
  decode_value(reader, to.*field.member, field.name, field.limit);
}
template <class Struct, class Member, auto... kTags>
void decode_field(wire::Reader& reader, Struct& to, const Arm<Struct, Member, kTags...>& arm) {
  const auto& tag = to.*first_of(Struct::kFields).member;
  if (reader.ok() && arm.selected_by(tag)) {
    decode_value(reader, to.*arm.member, arm.name, arm.limit);
  } else {
    to.*arm.member = Member{};
  }
}

template <class Struct, class Member>
void encode_field(wire::Writer& writer, const Struct& from, const Field<Struct, Member>& field) {
  encode_value(writer, from.*field.member);
}
template <class Struct, class Member, auto... kTags>
void encode_field(wire::Writer& writer, const Struct& from,
                  const Arm<Struct, Member, kTags...>& arm) {
  const auto& tag = from.*first_of(Struct::kFields).member;
  if (arm.selected_by(tag)) encode_value(writer, from.*arm.member);
}

/// Reads the fields in order, and of the arms only the selected one. Other arms keep their
/// defaults. After a fault the remaining fields are zero or empty.
template <class Struct>
void decode_fields(wire::Reader& reader, Struct& to) {
  Struct::kFields.for_each([&](const auto& field) { decode_field(reader, to, field); });
}

template <class Struct>
void encode_fields(wire::Writer& writer, const Struct& from) {
  Struct::kFields.for_each([&](const auto& field) { encode_field(writer, from, field); });
}

}  // namespace steertag::rpc

/// Defines the members `decode` and `encode` of a struct whose fields are its wire format.
#define STEERTAG_DEFINE_XDR(Struct)                 \
  void Struct::decode(wire::Reader& reader) {       \
    ::steertag::rpc::decode_fields(reader, *this);  \
  }                                                 \
  void Struct::encode(wire::Writer& writer) const { \
    ::steertag::rpc::encode_fields(writer, *this);  \
  }
