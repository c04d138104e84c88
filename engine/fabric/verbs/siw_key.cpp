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

// Providers of one process, also in several threads, have one context of a device.
struct Holding {
  ibv_cq* queue = nullptr;
  int users = 0;
};
std::mutex holdings_mutex;
std::map<ibv_context*, Holding> holdings;

}  // namespace

HeldSiwKey::HeldSiwKey(ibv_context& context) : context_(context) {
  const std::lock_guard lock(holdings_mutex);
  Holding& holding = holdings[&context];
  if (holding.users == 0) {
    holding.queue = ibv_create_cq(&context, kEntries, nullptr, nullptr, 0);
  }
  held_ = holding.queue != nullptr;
  holding.users += held_ ? 1 : 0;
}

HeldSiwKey::~HeldSiwKey() {
  if (!held_) {
    return;
  }
  const std::lock_guard lock(holdings_mutex);
  Holding& holding = holdings[&context_];
  if (--holding.users == 0) {
    ibv_destroy_cq(holding.queue);
    holdings.erase(&context_);
  }
}

}  // namespace steertag::fabric::verbs
