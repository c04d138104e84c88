// What the decoders' fuzzers check: a fault lies inside the input.
// What decodes encodes to the same octets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::fuzz {

template <class T>
void check_codec(View input) {
  wire::Reader reader(input);
  T value{};
  value.decode(reader);
  if (!reader.ok()) {
    if (reader.fault().offset > input.size() || reader.fault().field.empty()) std::abort();
    return;
  }
  Bytes again;
  wire::Writer writer(again);
  value.encode(writer);
  if (!std::ranges::equal(again, input.first(reader.offset()))) std::abort();
}

inline View view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace steertag::fuzz
