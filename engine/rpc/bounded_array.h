// A variable-length array with room for a fixed number of elements.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>

namespace steertag::rpc {

/// A variable-length array of at most `kMost` elements, stored inside the object.
template <class T, std::size_t kMost>
class BoundedArray {
 public:
  using value_type = T;
  static constexpr std::size_t kMostItems = kMost;

  BoundedArray() = default;
  /// Items beyond kMost are dropped.
  BoundedArray(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  /// False, and without effect, if it is full.
  bool push_back(const T& item) {
    if (size_ == kMost) return false;
    items_[size_++] = item;
    return true;
  }
  /// `at` must be below size().
  T& operator[](std::size_t at) { return items_[at]; }
  const T& operator[](std::size_t at) const { return items_[at]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  bool operator==(const BoundedArray& other) const requires std::equality_comparable<T> {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::array<T, kMost> items_{};
  std::size_t size_ = 0;
};

}  // namespace steertag::rpc
