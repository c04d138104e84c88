// Any octets in every dialect: the decoder returns a fault or a header.
//
// A fault is inside the message. A header encodes to the same octets. Only dialects that decode a
// message are possible.
#include <algorithm>

#include "wire/fuzz/check.h"
#include "wire/legacy/dialect.h"

namespace {

using namespace steertag;

void check_reading(View message, const wire::Reading& reading) {
  Bytes again;
  std::size_t size = 0;
  std::visit(
      [&](const auto& header) {
        wire::encode(header, again);
        size = wire::encoded_size(header);
      },
      reading.header);
  fuzz::check(again.size() == size);
  again.insert(again.end(), reading.payload.begin(), reading.payload.end());
  fuzz::check(std::ranges::equal(again, message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View message = fuzz::view_of(data, size);
  const wire::DialectSet found = wire::dialects(message);
  for (const wire::Dialect dialect : wire::kDialects) {
    const Expected<wire::Reading, wire::Fault> reading = wire::read(message, dialect);
    fuzz::check(!wire::describe(message, dialect).empty());
    if (reading) {
      check_reading(message, *reading);
      continue;
    }
    const wire::Fault& fault = reading.error();
    fuzz::check(fault.code != wire::FaultCode::none);
    fuzz::check(fault.offset <= size);
    fuzz::check(!fault.field.empty());
    fuzz::check(!found.contains(dialect));
  }
  // RFC 5666 accepts every message that RFC 8166 accepts.
  fuzz::check(!found.contains(wire::Dialect::rfc8166) || found.contains(wire::Dialect::rfc5666));
  return 0;
}
