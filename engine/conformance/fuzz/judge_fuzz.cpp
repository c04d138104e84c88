// Fuzzes the judges: octets become the events of one connection.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conformance/direct/direct_access.h"
#include "conformance/judge.h"
#include "conformance/legacy/prototype_judge.h"
#include "conformance/legacy/rfc5666_judge.h"
#include "conformance/pnfs/layouts.h"
#include "wire/xdr.h"

namespace {

using namespace steertag;

/// Most events of one input. Longer inputs would only be slower.
constexpr std::uint64_t kMostEvents = 4096;
/// From this first octet on an event is of another connection of the same client.
constexpr std::uint32_t kOther = 128;

/// Reads numbers and octets from the input.
class Input {
 public:
  explicit Input(View bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  View take(std::size_t length) {
    const View front = bytes_.first(std::min(length, bytes_.size()));
    bytes_ = bytes_.subspan(front.size());
    return front;
  }
  std::uint32_t number(std::size_t octets) {
    std::uint32_t value = 0;
    for (const std::byte octet : take(octets)) {
      value = value << 8 | std::to_integer<std::uint32_t>(octet);
    }
    return value;
  }

 private:
  View bytes_;
};

trace::Body read_response(Input& input) {
  const std::uint32_t stag = input.number(1);
  const std::uint32_t length = input.number(2);
  const View payload = input.take(length % 2 == 0 ? length : 0);
  return trace::RdmaReadResponse{stag, 0, length, payload.size() == length ? payload : View{}};
}

trace::Body next_body(Input& input, std::uint32_t kind) {
  switch (kind % 16) {
    case 0:
      return trace::Connect{input.take(input.number(1) % 32)};
    case 1:
      return trace::Accept{input.take(input.number(1) % 16)};
    case 2:
      return trace::RdmaWrite{input.number(1), input.number(2), input.number(2), {}};
    case 3:
      return trace::RdmaRead{input.number(1), input.number(2), input.number(2)};
    case 4:
      return read_response(input);
    case 5:
      return trace::MemoryInvalidated{input.number(1), input.number(1) % 2 == 0};
    case 6:
      return trace::ReceivePosted{input.number(1), input.number(2)};
    case 7:
      return trace::Terminate{};
    case 9:
      return trace::RdmaReadRefused{input.number(1), {}};
    case 8:
      return trace::Send{input.take(input.number(1)), input.number(1)};
    default:
      return trace::Send{input.take(input.number(1)), {}};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(std::as_bytes(std::span(data, size)));
  conformance::DirectAccess access;
  conformance::Layouts layouts;
  conformance::Judge judge({}, nullptr, &access, &layouts);
  conformance::Judge other({}, nullptr, &access, &layouts);
  conformance::Rfc5666Judge rfc5666_judge;
  conformance::PrototypeJudge prototype_judge(1024);
  for (std::uint64_t index = 0; !input.empty() && index < kMostEvents; ++index) {
    const std::uint32_t head = input.number(1);
    const trace::Role actor = head % 2 == 0 ? trace::Role::client : trace::Role::server;
    const trace::Event event{index, 0, actor, next_body(input, head / 2)};
    (head >= kOther ? other : judge).on_event(event);
    rfc5666_judge.on_event(event);
    prototype_judge.on_event(event);
  }
  return 0;
}
