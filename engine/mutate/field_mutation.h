// Messages whose fields are shifted: one left out or written twice.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Every field of the transport header left out ("without.read-list-position") and written twice
/// ("twice.rdma_xid"); what follows moves, so every later field is read from the wrong place.
std::vector<Variant> shifted_fields(const wire::Draft& draft);

}  // namespace steertag::mutate
