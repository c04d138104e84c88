// Holds the bad key by one large completion queue for each context.
#include "fabric/verbs/siw_key.h"

#include <map>
#include <mutex>

namespace steertag::fabric::verbs {
namespace {

constexpr int kBadKey = 0x090000;  // rdma-core: SIW_INVAL_UOBJ_KEY
constexpr int kCqeOctets = 32;     // siw-abi.h: struct siw_cqe
// A fresh context's first queue begins at key 0. Its entries reach beyond the bad key.
constexpr int kEntries = kBadKey / kCqeOctets + 1;

}  // namespace

bool hold_bad_siw_key(ibv_context& context) {
  // librdmacm opens a device once, for the life of the process; so long lives the queue.
  static std::mutex mutex;
  static std::map<ibv_context*, ibv_cq*> held;
  const std::lock_guard lock(mutex);
  ibv_cq*& queue = held[&context];
  if (queue == nullptr) {
    queue = ibv_create_cq(&context, kEntries, nullptr, nullptr, 0);
  }
  return queue != nullptr;
}

}  // namespace steertag::fabric::verbs
