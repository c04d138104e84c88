// bitmap4: a set of attribute numbers, or of other small numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "nfs/v4/limits.h"
#include "rpc/bounded_array.h"
#include "rpc/fields.h"
#include "support/bytes.h"

namespace steertag::nfs4 {
class Bitmap;
}  // namespace steertag::nfs4

namespace steertag::rpc {
void decode_value(wire::Reader& reader, nfs4::Bitmap& to, std::string_view name, std::size_t limit);
void encode_value(wire::Writer& writer, const nfs4::Bitmap& from);
}  // namespace steertag::rpc

namespace steertag::nfs4 {

/// bitmap4 (RFC 8881 3.3.7): number n is bit n % 32 of word n / 32. Keeps the words as they came,
/// so that trailing zero words, which are legal, survive a round trip. `==` compares the sets.
/// The protocol has no limit: words behind the first kMostBitmapWords stay in the message, which
/// must outlive a decoded bitmap.
class Bitmap : public rpc::BoundedArray<std::uint32_t, kMostBitmapWords> {
 public:
  /// Numbers that it has room for: from 0 below this. No attribute has a greater one.
  static constexpr std::uint32_t kNumbers = 32 * kMostBitmapWords;

  Bitmap() = default;
  /// Numbers from kNumbers on are left out.
  static Bitmap of(std::initializer_list<std::uint32_t> numbers);

  bool test(std::uint32_t number) const;
  /// False when there is no room for the number.
  bool set(std::uint32_t number);
  void reset(std::uint32_t number);
  /// No number is in the set.
  bool none() const;
  /// Whether a number from kNumbers on is in the set, as only a decoded one may have.
  bool has_beyond() const;
  /// Words of its encoding.
  std::size_t wire_words() const { return size() + beyond_.size() / 4; }
  /// Drops trailing zero words: the form that peers send.
  void trim();

  bool operator==(const Bitmap& other) const;
  /// Numbers of both; of either; of this one only. The first two are below kNumbers.
  Bitmap operator&(const Bitmap& other) const;
  Bitmap operator|(const Bitmap& other) const;
  Bitmap without(const Bitmap& other) const;

  /// Calls `visit(number)` for every number below kNumbers in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t number = 0; number < 32 * size(); ++number) {
      if (test(number)) visit(number);
    }
  }

 private:
  std::uint32_t word(std::size_t at) const;

  friend void rpc::decode_value(wire::Reader&, Bitmap&, std::string_view, std::size_t);
  friend void rpc::encode_value(wire::Writer&, const Bitmap&);

  View beyond_;  // the words from kMostBitmapWords on; empty unless those before are there
};

}  // namespace steertag::nfs4
