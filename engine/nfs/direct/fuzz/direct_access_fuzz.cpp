// Fuzzes direct access: codecs, the walk to eligible results, and private data.
// The first octet chooses the procedure and how many results have a write chunk.
#include <vector>

#include "nfs/direct/binding.h"
#include "nfs/direct/private_data.h"
#include "nfs/fuzz/check_codec.h"

using namespace steertag;

namespace {

constexpr unsigned kProcedures = 8;  // one of them does not exist

void check_walk(View input, direct::Procedure procedure, std::size_t chunks) {
  const std::vector<std::uint32_t> lengths(chunks, 4);
  wire::Reader reader(input, wire::Values::any);
  const nfs::ItemWalk walk = direct::eligible_results(reader, procedure, lengths);
  if (walk.fault && walk.fault.offset > input.size()) std::abort();
  // Values are not judged, so the payload alone bounds them.
  if (walk.items.size() * 4 > input.size()) std::abort();
  for (const nfs::EligibleItem& item : walk.items) {
    if (item.position % 4 != 0) std::abort();
    if (item.reduced && (item.length == 0 || chunks == 0)) std::abort();
  }
}

void check_private_data(View input) {
  const auto ticket = direct::find_ticket(input);
  if (!ticket) return;
  Bytes again;
  direct::encode(*ticket, again);
  if (!direct::is_optimistic(input) || direct::find_ticket(again) != ticket) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const View input = fuzz::view_of(data, size).subspan(1);
  check_private_data(input);
  const auto procedure = rpc::value_numbered<direct::Procedure>(data[0] % kProcedures);
  if (!procedure) return 0;
  direct::with_signature(*procedure,
                         [&]<class Args, class Result>(direct::Signature<Args, Result>) {
                           fuzz::check_codec<Args>(input);
                           fuzz::check_codec<Result>(input);
                         });
  check_walk(input, *procedure, data[0] / kProcedures);
  return 0;
}
