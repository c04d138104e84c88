// XDR (RFC 4506): a reader that keeps its first fault, and an appending writer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "support/bytes.h"
#include "support/roundup.h"
#include "wire/fault.h"

namespace steertag::wire {

/// RFC 4506 3: sizes on the wire.
using steertag::roundup4;

static_assert(std::endian::native == std::endian::little, "loads and stores swap octets");

/// Unchecked big-endian loads and stores; the caller has checked the bounds.
inline std::uint32_t load_u32(const std::byte* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap32(value);
}

inline std::uint64_t load_u64(const std::byte* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

inline void store_u32(std::byte* to, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}

inline void store_u64(std::byte* to, std::uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

/// Strict readers refuse values beyond a decoder's limits and enumerations. Structural ones check
/// only lengths: the message itself limits counts. They can parse messages that break a protocol's
/// rules.
enum class Values : std::uint8_t { judged, any };

/// Reads XDR from a view that must outlive the reader. After the first fault every read returns
/// zero or an empty view, and the fault stays. So read a whole structure, and check once.
class Reader {
 public:
  explicit Reader(View bytes, Values values = Values::judged) : bytes_(bytes), values_(values) {}

  std::uint32_t u32(std::string_view field);
  std::uint64_t u64(std::string_view field);
  /// A word that must be 0 or 1.
  bool boolean(std::string_view field);
  /// Fixed-length opaque data of `length` octets and its roundup. The view points into the input.
  View opaque_fixed(std::size_t length, std::string_view field);
  /// Counted opaque data of at most `limit` octets and its roundup. The view points into the input.
  View opaque(std::size_t limit, std::string_view field);
  /// Like `opaque`, as text. XDR strings are octets; no encoding is checked.
  std::string_view string(std::size_t limit, std::string_view field);
  /// A count of elements of at least `element_bytes` octets each. They must fit into the remaining
  /// octets, and the count must not exceed `limit`.
  std::uint32_t count(std::size_t element_bytes, std::size_t limit, std::string_view field);
  /// Skips `length` octets without roundup.
  void skip(std::size_t length, std::string_view field);

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }
  View rest() const { return bytes_.subspan(offset_); }
  bool judges_values() const { return values_ == Values::judged; }
  bool ok() const { return fault_.code == FaultCode::none; }
  const Fault& fault() const { return fault_; }
  /// Records a fault at `offset`, unless there is one already.
  void fail(FaultCode code, std::size_t offset, std::string_view field);

 private:
  bool take(std::size_t length, std::string_view field);

  View bytes_;
  std::size_t offset_ = 0;
  Fault fault_;
  Values values_;
};

/// Appends XDR to a buffer of the caller, who may reuse it.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void boolean(bool value) { u32(value ? 1 : 0); }
  /// Fixed-length opaque data and its zero roundup.
  void opaque_fixed(View bytes);
  /// Count, data, zero roundup.
  void opaque(View bytes);
  void string(std::string_view text);
  /// Raw octets: no count, no roundup.
  void raw(View bytes);

  std::size_t size() const { return out_.size(); }
  /// Overwrites the word at `offset`, which must exist.
  void patch_u32(std::size_t offset, std::uint32_t value);

 private:
  Bytes& out_;
};

}  // namespace steertag::wire
