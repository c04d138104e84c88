// Any octets as a DDP segment header: a decoded one encodes to the same octets.
//
// Reserved bits are the exception.
#include "rdma/iwarp/segment.h"
#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  using namespace steertag::rdma::iwarp;
  const View octets = fuzz::view_of(data, size);
  if (octets.size() >= kUntaggedHeaderBytes) {
    const Segment segment = decode_segment(octets.data());
    Bytes again(segment.header_bytes());
    encode(segment, again.data());
    fuzz::check(decode_segment(again.data()) == segment);
    again[0] |= octets[0] & std::byte{0x3c};
    again[1] |= octets[1] & std::byte{0x30};
    for (std::size_t i = 0; i < again.size(); ++i) {
      fuzz::check(again[i] == octets[i]);
    }
    fuzz::check(!name(segment.opcode).empty());
  }
  if (octets.size() >= kReadRequestBytes) {
    Bytes again(kReadRequestBytes);
    encode(decode_read_request(octets.data()), again.data());
    fuzz::check(std::equal(again.begin(), again.end(), octets.begin()));
  }
  return 0;
}
