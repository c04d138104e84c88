// Messages with shifted fields: one is missing or written twice.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Each field of the transport header in turn is missing ("without.read-list-position") or written
/// twice ("twice.rdma_xid"). Later fields move, so they are read from the wrong place.
std::vector<Variant> shifted_fields(const wire::Draft& draft);

}  // namespace steertag::mutate
