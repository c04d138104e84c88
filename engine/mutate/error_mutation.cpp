// Mutations of RDMA_ERROR messages.
#include "mutate/error_mutation.h"

#include "wire/xdr.h"

namespace steertag::mutate {

namespace {

bool is_error(const wire::Draft& draft) {
  return draft.proc == static_cast<std::uint32_t>(wire::Procedure::error);
}

bool set_code(wire::Draft& draft, std::uint32_t code) {
  if (!is_error(draft)) return false;
  draft.error = code;
  return true;
}

template <std::uint32_t kLow, std::uint32_t kHigh>
bool set_versions(wire::Draft& draft) {
  if (!is_error(draft) || draft.error != static_cast<std::uint32_t>(wire::ErrorCode::vers))
    return false;
  draft.vers_low = kLow;
  draft.vers_high = kHigh;
  return true;
}

/// The draft itself would leave the code out with an rdma_proc that has none.
bool set_procedure(wire::Draft& draft) {
  if (!is_error(draft)) return false;
  constexpr std::size_t kProcAt = 12;
  Bytes message;
  wire::encode(draft, message);
  wire::store_u32(message.data() + kProcAt, 5);
  draft.cut_to = 0;
  draft.append = std::move(message);
  return true;
}

constexpr Mutation kErrorMutations[] = {
    {"error.versions-2-2", set_versions<2, 2>},
    {"error.versions-2-3", set_versions<2, 3>},
    {"error.versions-1-0", set_versions<1, 0>},
    {"error.procedure-5", set_procedure},
};
constexpr NumberMutation kErrorNumbers[] = {{"error.code-", set_code}};

}  // namespace

MutationTable error_mutations() {
  return {kErrorMutations, kErrorNumbers};
}

}  // namespace steertag::mutate
