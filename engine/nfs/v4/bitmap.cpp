// Sets of small numbers.
#include "nfs/v4/bitmap.h"

#include <algorithm>
#include <limits>

#include "wire/xdr.h"

namespace steertag::nfs4 {

Bitmap Bitmap::of(std::initializer_list<std::uint32_t> numbers) {
  Bitmap made;
  for (const std::uint32_t number : numbers) made.set(number);
  return made;
}

std::uint32_t Bitmap::word(std::size_t at) const {
  if (at < size()) return (*this)[at];
  return at < wire_words() ? wire::load_u32(&beyond_[4 * (at - size())]) : 0;
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

bool Bitmap::has_beyond() const {
  return std::ranges::any_of(beyond_, [](std::byte octet) { return octet != std::byte{0}; });
}

void Bitmap::trim() {
  while (!beyond_.empty() && wire::load_u32(&beyond_.back() - 3) == 0)
    beyond_ = beyond_.first(beyond_.size() - 4);
  if (!beyond_.empty()) return;
  std::size_t words = size();
  while (words > 0 && word(words - 1) == 0) --words;
  const Bitmap from = *this;
  clear();
  for (std::size_t i = 0; i < words; ++i) push_back(from[i]);
}

bool Bitmap::operator==(const Bitmap& other) const {
  const std::size_t words = std::max(wire_words(), other.wire_words());
  for (std::size_t i = 0; i < words; ++i) {
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
  made.beyond_ = beyond_;
  made.trim();
  return made;
}

}  // namespace steertag::nfs4

namespace steertag::rpc {

void decode_value(wire::Reader& reader, nfs4::Bitmap& to, std::string_view name,
                  std::size_t /*limit*/) {
  const std::uint32_t count = reader.count(4, std::numeric_limits<std::uint32_t>::max(), name);
  to = nfs4::Bitmap{};
  for (std::uint32_t i = 0; i < std::min<std::size_t>(count, nfs4::kMostBitmapWords); ++i)
    to.push_back(reader.u32(name));
  if (count > to.size()) to.beyond_ = reader.opaque_fixed(4 * (count - to.size()), name);
}

void encode_value(wire::Writer& writer, const nfs4::Bitmap& from) {
  writer.u32(static_cast<std::uint32_t>(from.wire_words()));
  for (const std::uint32_t word : from) writer.u32(word);
  writer.raw(from.beyond_);
}

}  // namespace steertag::rpc
