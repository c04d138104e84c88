// A program of reads over any octets: the reader stays inside them and keeps its first fault.
//
// The first octet is the length of the program. Each of its octets chooses a read and a limit.
#include "wire/xdr.h"

#include <algorithm>

#include "wire/fuzz/check.h"

namespace {

using namespace steertag;

/// A returned view must lie inside the input.
void check_inside(View view, View input) {
  if (view.empty()) return;
  fuzz::check(view.data() >= input.data());
  fuzz::check(view.data() + view.size() <= input.data() + input.size());
}

void step(std::uint8_t operation, wire::Reader& reader, View input) {
  const std::size_t limit = std::size_t{operation} >> 3;
  switch (operation & 7) {
    case 0:
      reader.u32("u32");
      break;
    case 1:
      reader.u64("u64");
      break;
    case 2:
      reader.boolean("boolean");
      break;
    case 3:
      check_inside(reader.opaque_fixed(limit, "opaque_fixed"), input);
      break;
    case 4:
      check_inside(reader.opaque(limit == 31 ? SIZE_MAX : limit, "opaque"), input);
      break;
    case 5:
      reader.string(limit, "string");
      break;
    case 6:
      reader.count(limit + 1, SIZE_MAX, "count");
      break;
    default:
      reader.skip(limit == 31 ? SIZE_MAX : limit, "skip");
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t length = std::min<std::size_t>(data[0], size - 1);
  const View input = fuzz::view_of(data + 1 + length, size - 1 - length);
  wire::Reader reader(input);
  for (std::size_t i = 1; i <= length; ++i) {
    const wire::Fault before = reader.fault();
    const std::size_t offset = reader.offset();
    step(data[i], reader, input);
    fuzz::check(reader.offset() >= offset && reader.offset() <= input.size());
    fuzz::check(reader.offset() + reader.remaining() == input.size());
    if (before) {
      fuzz::check(reader.offset() == offset);
      fuzz::check(reader.fault().code == before.code && reader.fault().offset == before.offset);
    }
    fuzz::check(reader.fault().offset <= input.size());
  }
  return 0;
}
