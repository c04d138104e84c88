// Posts the receives of a pool.
#include "endpoint/receive_pool.h"

#include <utility>

namespace steertag::peer {

Expected<std::unique_ptr<ReceivePool>, fabric::Error> ReceivePool::open(
    fabric::Provider& provider, fabric::Domain& domain, std::uint32_t count,
    std::uint32_t receive_bytes) {
  auto queue = provider.make_receive_queue(domain);
  if (!queue) return tl::unexpected(std::move(queue.error()));
  std::unique_ptr<ReceivePool> pool(new ReceivePool(std::move(*queue), count, receive_bytes));
  for (fabric::WorkId id = 0; id < count; ++id) pool->repost(id);
  return pool;
}

}  // namespace steertag::peer
