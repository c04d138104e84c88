// Any octets as a Terminate: a cause with the nibbles of the octets, in either order.
//
// Every cause has a description.
#include "rdma/iwarp/terminate.h"
#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  using namespace steertag::rdma::iwarp;
  const auto cause = decode_terminate(fuzz::view_of(data, size));
  fuzz::check(cause.has_value() == (size >= 4));
  if (cause) {
    const int ordered = cause->layer << 4 | cause->type;
    const int swapped = cause->type << 4 | cause->layer;
    fuzz::check(data[0] == ordered || data[0] == swapped);
    fuzz::check(cause->code == data[1]);
    fuzz::check(!describe(*cause).empty());
  }
  return 0;
}
