// A defect of rdma-core's siw provider, and how its one bad key stays out of use.
#pragma once

#include <infiniband/verbs.h>

namespace steertag::fabric::verbs {

/// Linux's siw gives each queue a key, and the process maps the queue by it. The kernel gives out
/// the first keys that are free, by pages. rdma-core takes one valid key for none
/// (SIW_INVAL_UOBJ_KEY), and then creates no queue pair, with errno 0. A completion queue of this
/// process holds that key, from the first call for a context on. Call it before any other queue is
/// made. False (errno) if the device refuses.
bool hold_bad_siw_key(ibv_context& context);

}  // namespace steertag::fabric::verbs
