// Sets of small numbers.
#include "nfs/v4/bitmap.h"

namespace steertag::nfs4 {

Bitmap Bitmap::of(std::initializer_list<std::uint32_t> numbers) {
  Bitmap made;
  for (const std::uint32_t number : numbers) made.set(number);
  return made;
}

bool Bitmap::test(std::uint32_t number) const {
  return (word(number / 32) >> (number % 32) & 1) != 0;
}

bool Bitmap::set(std::uint32_t number) {
  if (number >= kNumbers) return false;
  while (size() <= number / 32) push_back(0);
  (*this)[number / 32] |= std::uint32_t{1} << (number % 32);
  return true;
}

void Bitmap::reset(std::uint32_t number) {
  if (number / 32 < size()) (*this)[number / 32] &= ~(std::uint32_t{1} << (number % 32));
}

bool Bitmap::none() const {
  return *this == Bitmap{};
}

void Bitmap::trim() {
  std::size_t words = size();
  while (words > 0 && word(words - 1) == 0) --words;
  const Bitmap from = *this;
  clear();
  for (std::size_t i = 0; i < words; ++i) push_back(from[i]);
}

bool Bitmap::operator==(const Bitmap& other) const {
  for (std::size_t i = 0; i < kMostBitmapWords; ++i) {
    if (word(i) != other.word(i)) return false;
  }
  return true;
}

Bitmap Bitmap::operator&(const Bitmap& other) const {
  Bitmap made;
  for (std::size_t i = 0; i < size(); ++i) made.push_back(word(i) & other.word(i));
  made.trim();
  return made;
}

Bitmap Bitmap::operator|(const Bitmap& other) const {
  Bitmap made;
  for (std::size_t i = 0; i < kMostBitmapWords; ++i) made.push_back(word(i) | other.word(i));
  made.trim();
  return made;
}

Bitmap Bitmap::without(const Bitmap& other) const {
  Bitmap made;
  for (std::size_t i = 0; i < size(); ++i) made.push_back(word(i) & ~other.word(i));
  made.trim();
  return made;
}

}  // namespace steertag::nfs4
