// A defect of rdma-core's siw provider, and how its one bad key stays out of use.
#pragma once

#include <infiniband/verbs.h>

namespace steertag::fabric::verbs {

/// Linux's siw gives each queue the first free key, and the process maps the queue by it.
/// rdma-core takes one valid key for none (SIW_INVAL_UOBJ_KEY). It creates no queue pair then, and
/// sets no errno. While one of these lives for a context, a completion queue holds that key. Make
/// it before any other queue.
class HeldSiwKey {
 public:
  explicit HeldSiwKey(ibv_context& context);
  ~HeldSiwKey();
  HeldSiwKey(const HeldSiwKey&) = delete;
  HeldSiwKey& operator=(const HeldSiwKey&) = delete;

  /// False (errno) if the device refused the queue.
  bool held() const { return held_; }

 private:
  ibv_context& context_;
  bool held_ = false;
};

}  // namespace steertag::fabric::verbs
