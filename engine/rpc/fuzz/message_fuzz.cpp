// Fuzzes call and reply headers: what decodes encodes to the same octets.
#include <cstdint>
#include <cstdlib>

#include "rpc/direction.h"
#include "rpc/message.h"

using namespace steertag;

namespace {

template <class Header>
void check(View input) {
  wire::Reader reader(input);
  Header header;
  header.decode(reader);
  if (!reader.ok()) {
    if (reader.fault().offset > input.size()) std::abort();
    return;
  }
  Bytes again;
  wire::Writer writer(again);
  header.encode(writer);
  // An unknown rpcvers ends the decoding, so that only the first three words are known.
  constexpr std::size_t kKnownWords = 12;
  const std::size_t length = std::min(again.size(), std::max(reader.offset(), kKnownWords));
  if (!std::ranges::equal(View{again}.first(length), input.first(length))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input(reinterpret_cast<const std::byte*>(data), size);
  check<rpc::CallHeader>(input);
  check<rpc::ReplyHeader>(input);
  static_cast<void>(rpc::direction(input));
  static_cast<void>(rpc::decode_auth_sys(input));
  return 0;
}
