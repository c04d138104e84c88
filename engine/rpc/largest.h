// The largest size of a type's values on the wire, from its list of fields.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "rpc/fields.h"
#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::rpc {

/// `Largest<T>::octets(limit)`; `limit` is the field's.
template <class T>
struct Largest {
  static constexpr std::size_t octets(std::size_t limit);
};

/// A struct has the sum of its fields, a union its discriminant and the largest arm.
template <class T>
constexpr std::size_t largest_fields() {
  std::size_t fields = 0;
  std::size_t arm = 0;
  T::kFields.for_each([&]<class Entry>(const Entry& entry) {
    using Member = std::remove_cvref_t<decltype(std::declval<T&>().*entry.member)>;
    const std::size_t octets = Largest<Member>::octets(entry.limit);
    if constexpr (kIsArm<Entry>) {
      arm = std::max(arm, octets);
    } else {
      fields += octets;
    }
  });
  return fields + arm;
}

constexpr std::size_t largest_counted(std::size_t limit) {
  return 4 + wire::roundup4(limit);
}

template <class T>
constexpr std::size_t Largest<T>::octets(std::size_t limit) {
  if constexpr (Bounded<T>) {
    return 4 + T::kMostItems * Largest<typename T::value_type>::octets(0);
  } else if constexpr (Fielded<T>) {
    return largest_fields<T>();
  } else if constexpr (Holder<T>) {
    return largest_counted(T::kLimit);
  } else if constexpr (std::is_same_v<T, View> || std::is_same_v<T, std::string_view>) {
    return largest_counted(limit);
  } else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::int64_t>) {
    return 8;
  } else {
    static_assert(std::is_enum_v<T> || std::is_same_v<T, bool> ||
                  std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::int32_t>);
    return 4;
  }
}
template <std::size_t kSize>
struct Largest<std::array<std::byte, kSize>> {
  static constexpr std::size_t octets(std::size_t) { return wire::roundup4(kSize); }
};
template <class T>
struct Largest<std::optional<T>> {
  static constexpr std::size_t octets(std::size_t limit) { return 4 + Largest<T>::octets(limit); }
};
template <class T>
struct Largest<std::vector<T>> {
  static constexpr std::size_t octets(std::size_t limit) {
    return 4 + limit * Largest<T>::octets(0);
  }
};
/// A chain's empty form: the arguments limit its entries, and the type does not.
template <class T>
struct Largest<Chain<T>> {
  static constexpr std::size_t octets(std::size_t) { return 4; }
};

}  // namespace steertag::rpc
