// A defect of rdma-core's siw provider, and how its one bad key stays out of use.
#pragma once

#include <infiniband/verbs.h>

namespace steertag::fabric::verbs {

/// Linux's siw gives each queue a key, by which the process maps it: the first that is free.
/// rdma-core takes one valid key for none (SIW_INVAL_UOBJ_KEY). It creates no queue pair then, and
/// sets no errno. From the first call for a context on a completion queue holds that key. Call it
/// before any other queue is made. False (errno) if the device refuses.
bool hold_bad_siw_key(ibv_context& context);

}  // namespace steertag::fabric::verbs
