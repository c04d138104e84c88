// A queue with reused slots: it allocates only while it grows, and frees a burst's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steertag::fabric::software {

/// Slots that an empty ring keeps. In steady work it allocates nothing. An idle connection that
/// once had thousands of posted operations becomes small again.
inline constexpr std::size_t kMostIdleSlots = 64;

/// A sequence number, which counts pushes from 0, identifies an element. A popped slot keeps its
/// value until it is pushed again, so that vectors in it keep their capacity. The slots of a large
/// ring are freed when its last element is popped.
template <class T>
class Ring {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Sequence number of the front, and of the next element to be pushed.
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + size_; }

  T& front() { return at(first_); }
  T& back() { return at(end() - 1); }
  /// The element with that sequence number, which must be in first() .. end() - 1.
  T& at(std::uint64_t sequence) { return slots_[sequence & (slots_.size() - 1)]; }
  const T& at(std::uint64_t sequence) const { return slots_[sequence & (slots_.size() - 1)]; }

  /// A slot at the back, with its previous value.
  T& push() {
    if (size_ == slots_.size()) {
      grow();
    }
    ++size_;
    return back();
  }
  void pop() {
    ++first_;
    --size_;
    shrink();
  }
  void pop_back() { --size_; }
  void clear() {
    first_ += size_;
    size_ = 0;
    shrink();
  }

  /// Capacity in elements.
  std::size_t slots() const { return slots_.size(); }

 private:
  void shrink() {
    if (size_ == 0 && slots_.size() > kMostIdleSlots) {
      slots_ = std::vector<T>();
    }
  }
  void grow() {
    std::vector<T> larger(slots_.empty() ? 4 : slots_.size() * 2);
    for (std::uint64_t sequence = first_; sequence < end(); ++sequence) {
      larger[sequence & (larger.size() - 1)] = std::move(at(sequence));
    }
    slots_ = std::move(larger);
  }

  std::vector<T> slots_;  // size is a power of two
  std::uint64_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace steertag::fabric::software
