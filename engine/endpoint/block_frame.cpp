// Seals, wipes and opens frames.
#include "endpoint/block_frame.h"

#include <algorithm>
#include <atomic>

#include "rdma/iwarp/crc32c.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kCheckAt = 8;

/// CRC32C over generation and data, as the check field has it.
std::uint64_t check_of(View frame) {
  rdma::iwarp::Crc32c crc;
  crc.update(frame.first(kCheckAt));
  crc.update(frame.subspan(kFrameHeadOctets, frame.size() - kFrameOctets));
  return crc.value();
}

}  // namespace

MutableView frame_data(MutableView frame) {
  return frame.subspan(kFrameHeadOctets, frame.size() - kFrameOctets);
}

void seal_frame(MutableView frame, std::uint64_t generation) {
  // The device may read at any moment: what makes the frame valid comes last.
  wire::store_u64(frame.data() + frame.size() - 8, generation);
  wire::store_u64(frame.data(), generation);
  std::atomic_thread_fence(std::memory_order_release);
  wire::store_u64(frame.data() + kCheckAt, check_of(frame));
}

void wipe_frame(MutableView frame) {
  wire::store_u64(frame.data(), 0);
  std::atomic_thread_fence(std::memory_order_release);
  std::ranges::fill(frame, std::byte{0});
}

std::optional<View> open_frame(View frame, std::uint64_t generation, FrameChecks checks) {
  if (frame.size() < kFrameOctets || generation == 0) return std::nullopt;
  const auto has = [&](std::size_t at, std::uint64_t value) {
    return wire::load_u64(frame.data() + at) == value;
  };
  const bool valid = (!checks.first_generation || has(0, generation)) &&
                     (!checks.last_generation || has(frame.size() - 8, generation)) &&
                     (!checks.check || has(kCheckAt, check_of(frame)));
  if (!valid) return std::nullopt;
  return frame.subspan(kFrameHeadOctets, frame.size() - kFrameOctets);
}

}  // namespace steertag::peer
