// Fuzzes the upper-layer binding: an eligible item lies at an aligned place inside the payload.
#include <optional>

#include "nfs/binding.h"
#include "nfs/fuzz/check_codec.h"
#include "nfs/reply_size.h"

using namespace steertag;

namespace {

void check(const std::optional<nfs::EligibleItem>& item, const wire::Fault& fault, View input) {
  if (fault && (item || fault.offset > input.size())) std::abort();
  if (!item) return;
  if (item->position % 4 != 0 || item->position > input.size()) std::abort();
  if (item->reduced && item->length == 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = fuzz::view_of(data, size);
  wire::Fault fault;
  const auto argument = nfs::eligible_argument(input, &fault);
  check(argument, fault, input);
  for (const nfs::BindingRow& row : nfs::binding_table()) {
    const auto result =
        nfs::eligible_result(input, row.program, row.version, row.procedure, &fault);
    check(result, fault, input);
  }
  const auto reply = nfs::largest_reply(input, 0, &fault);
  if (reply && (fault || reply->reduced() > reply->payload)) std::abort();
  return 0;
}
