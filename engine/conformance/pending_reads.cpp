// The ring of RDMA Reads in flight.
#include "conformance/pending_reads.h"

#include <algorithm>

namespace steertag::conformance {

namespace {

constexpr std::size_t kFirstSlots = 64;

}  // namespace

void PendingReads::push(const PendingRead& read) {
  if (count_ == kMostPendingReads) {
    lost_ = true;
    return;
  }
  if (count_ == ring_.size()) grow();
  ring_[(head_ + count_++) % ring_.size()] = read;
}

void PendingReads::grow() {
  const std::size_t size = ring_.size();
  std::vector<PendingRead> larger(std::max(kFirstSlots, size * 2));
  for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(head_ + i) % size];
  ring_.swap(larger);
  head_ = 0;
}

}  // namespace steertag::conformance
