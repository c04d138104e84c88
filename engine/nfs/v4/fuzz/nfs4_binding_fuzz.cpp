// Fuzzes the upper-layer binding of COMPOUND.
// Eligible items lie at aligned places in ascending order. A strict decode has the same items as a
// walk that does not judge values.
#include <vector>

#include "nfs/eligible_items.h"
#include "nfs/fuzz/check_codec.h"
#include "nfs/v4/binding.h"
#include "nfs/v4/reply_size.h"

using namespace steertag;

namespace {

void check(const std::vector<nfs::EligibleItem>& items, const wire::Fault& fault, View input,
           std::size_t removed) {
  if (fault && fault.offset > input.size()) std::abort();
  std::size_t last = 0;
  for (const nfs::EligibleItem& item : items) {
    if (item.position % 4 != 0 || item.position < last) std::abort();
    if (item.position > input.size() + removed) std::abort();
    if (item.reduced && item.length == 0) std::abort();
    last = item.position;
    if (item.reduced) removed += wire::roundup4(item.length);
  }
}

}  // namespace

/// The first octet is how many of the items the other side has taken out of the payload.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const View input = fuzz::view_of(data, size).subspan(1);
  const std::vector<std::uint32_t> lengths(data[0], 4);
  wire::Fault fault;
  std::vector<std::uint32_t> positions;
  for (int round = 0; round < 2; ++round) {
    const auto arguments = nfs::eligible_arguments(input, positions, &fault);
    check(arguments, fault, input, 0);
    for (const auto& item : arguments) {
      if (positions.size() < data[0])
        positions.push_back(static_cast<std::uint32_t>(item.position));
    }
  }
  check(nfs::eligible_results(input, 100003, 4, 1, lengths, &fault), fault, input, 0);
  const auto reply = nfs4::largest_reply(input, 0, &fault);
  if (reply && (fault || reply->reduced() > reply->payload)) std::abort();
  return 0;
}
