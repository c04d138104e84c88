// A list of constants of different types that compiles faster than a std::tuple.
#pragma once

#include <cstddef>
#include <utility>

namespace steertag {

namespace detail {

/// One place of the list. The number separates two entries of the same type.
template <std::size_t kNumber, class Entry>
struct Slot {
  Entry entry;
};

template <class Numbers, class... Entry>
struct Slots;
template <std::size_t... kNumber, class... Entry>
struct Slots<std::index_sequence<kNumber...>, Entry...> : Slot<kNumber, Entry>... {
  constexpr explicit Slots(const Entry&... entry) : Slot<kNumber, Entry>{entry}... {}

  /// Calls `visit` with each entry, in order.
  template <class Visit>
  constexpr void for_each(Visit&& visit) const {
    (visit(Slot<kNumber, Entry>::entry), ...);
  }

  /// Calls `visit` once with all entries and returns what it returns.
  template <class Visit>
  constexpr decltype(auto) apply(Visit&& visit) const {
    return visit(Slot<kNumber, Entry>::entry...);
  }
};

}  // namespace detail

/// `constexpr auto kList = Entries{1, "two"};`
template <class... Entry>
struct Entries : detail::Slots<std::index_sequence_for<Entry...>, Entry...> {
  constexpr explicit Entries(const Entry&... entry)
      : detail::Slots<std::index_sequence_for<Entry...>, Entry...>(entry...) {}
};
template <class... Entry>
Entries(Entry...) -> Entries<Entry...>;

/// The first entry of a list.
template <class First, class... Entry>
constexpr const First& first_of(const Entries<First, Entry...>& entries) {
  return static_cast<const detail::Slot<0, First>&>(entries).entry;
}

}  // namespace steertag
