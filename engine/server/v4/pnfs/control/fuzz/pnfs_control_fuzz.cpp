// Fuzzes the control messages of pNFS: what reads gives the same octets again.
#include "nfs/fuzz/check_codec.h"
#include "server/v4/pnfs/control/messages.h"

using namespace steertag;
using namespace steertag::peer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = fuzz::view_of(data, size);
  const auto message = control::read(input);
  if (!message) {
    if (message.error().empty()) std::abort();
    return 0;
  }
  Bytes again;
  control::append(*message, again);
  if (!std::ranges::equal(View(again).subspan(control::kLengthOctets), input)) std::abort();
  return 0;
}
