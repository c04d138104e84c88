// Any octets as an MPA request and as a reply.
//
// The result is a fault, a request for more octets, or a frame that survives a round trip. More
// octets never remove a fault.
#include <algorithm>

#include "rdma/iwarp/mpa_startup.h"
#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  using namespace steertag::rdma::iwarp;
  const View octets = fuzz::view_of(data, size);
  for (const StartupKind kind : {StartupKind::request, StartupKind::reply}) {
    const auto lacking = octets_lacking(kind, octets);
    const auto frame = decode_startup(kind, octets);
    fuzz::check(frame.has_value() == (lacking && *lacking == 0));
    if (lacking) {
      fuzz::check(*lacking <= kStartupHeaderBytes + kMostPrivateData);
      for (std::size_t part : {size / 2, size - std::min<std::size_t>(size, 1)}) {
        fuzz::check(octets_lacking(kind, octets.first(part)).has_value());
      }
    }
    if (frame) {
      fuzz::check(frame->private_data.size() <= kMostPrivateData);
      const auto again = decode_startup(kind, encode(*frame));
      fuzz::check(again && *again == *frame);
    }
  }
  return 0;
}
