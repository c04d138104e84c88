// Any octets: the strict decoder returns a fault or a header.
//
// A fault is inside the message. A header encodes to the same octets.
#include "wire/header.h"

#include <algorithm>

#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  const View message = fuzz::view_of(data, size);
  wire::Header header;
  const Expected<View, wire::Fault> payload = wire::decode(message, header);
  if (!payload) {
    const wire::Fault& fault = payload.error();
    fuzz::check(fault.code != wire::FaultCode::none);
    fuzz::check(fault.offset <= size);
    fuzz::check(!fault.field.empty());
    return 0;
  }
  Bytes again;
  wire::encode(header, again);
  fuzz::check(again.size() == wire::encoded_size(header));
  again.insert(again.end(), payload->begin(), payload->end());
  fuzz::check(std::ranges::equal(again, message));
  return 0;
}
