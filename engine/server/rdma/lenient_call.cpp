// A call made acceptable by deviations.
#include "server/rdma/lenient_call.h"

#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

/// Walks the chunk lists and rewrites single words; stops at the end of the message.
class ListWalk {
 public:
  ListWalk(Bytes& message, const Deviations& deviations)
      : message_(message), deviations_(deviations) {}

  void run() {
    while (presence()) {
      if (at_ + wire::kReadSegmentBytes > message_.size()) return;
      if (deviations_.has(Deviation::position_unaligned_accepted))
        wire::store_u32(word(), wire::load_u32(word()) & ~3U);
      at_ += wire::kReadSegmentBytes;
    }
    while (presence()) skip_chunk();
    presence();
  }

 private:
  std::byte* word() { return message_.data() + at_; }

  bool presence() {
    if (at_ + 4 > message_.size()) return false;
    const bool present = wire::load_u32(word()) != 0;
    if (present && deviations_.has(Deviation::presence_word_truthy)) wire::store_u32(word(), 1);
    at_ += 4;
    return present;
  }

  void skip_chunk() {
    if (at_ + 4 > message_.size()) return;
    const std::uint64_t bytes = wire::kSegmentBytes * std::uint64_t{wire::load_u32(word())};
    at_ = bytes > message_.size() ? message_.size() : at_ + 4 + static_cast<std::size_t>(bytes);
  }

  Bytes& message_;
  const Deviations& deviations_;
  std::size_t at_ = wire::kFixedBytes;
};

}  // namespace

bool overlooks_faults(const Deviations& deviations) {
  return deviations.has(Deviation::version_executed) ||
         deviations.has(Deviation::unknown_proc_executed) ||
         deviations.has(Deviation::presence_word_truthy) ||
         deviations.has(Deviation::position_unaligned_accepted);
}

Bytes overlook_faults(View message, const Deviations& deviations) {
  Bytes copy(message.begin(), message.end());
  if (copy.size() < wire::kFixedBytes) return copy;
  constexpr std::size_t kVersAt = 4;
  constexpr std::size_t kProcAt = 12;
  constexpr auto kLastProcedure = static_cast<std::uint32_t>(wire::Procedure::error);
  if (deviations.has(Deviation::version_executed))
    wire::store_u32(copy.data() + kVersAt, wire::kVersion);
  if (deviations.has(Deviation::unknown_proc_executed) &&
      wire::load_u32(copy.data() + kProcAt) > kLastProcedure)
    wire::store_u32(copy.data() + kProcAt, static_cast<std::uint32_t>(wire::Procedure::msg));
  ListWalk(copy, deviations).run();
  return copy;
}

}  // namespace steertag::peer
