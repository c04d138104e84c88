// Grants, revocations and leases of frames.
#include "server/direct/frames.h"

#include <algorithm>
#include <utility>

#include "endpoint/block_frame.h"

namespace steertag::peer {
namespace {

constexpr fabric::Rights kReadable{.remote_read = true, .remote_write = false};

std::uint32_t length_of(fabric::Region& region) {
  return static_cast<std::uint32_t>(region.bytes().size() - kFrameOctets);
}

}  // namespace

Frames::~Frames() {
  totals_.frames -= size();
}

direct::Reference Frames::reference(const Block& block, const Frame& frame) const {
  return {frame.region->stag(), frame.region->base(), frame.generation,
          block.number * limits_.block_bytes, length_of(*frame.region)};
}

std::optional<direct::Reference> Frames::renew(const Block& block, Time now) {
  const auto found = frames_.find(block);
  if (found == frames_.end() || found->second.generation == 0) return std::nullopt;
  found->second.granted = now;
  ++totals_.counters.grants;
  return reference(block, found->second);
}

std::uint64_t Frames::fresh_generation() const {
  std::uint64_t generation = random_();
  while (generation == 0) generation = random_();
  return generation;
}

Frames::Frame* Frames::prepare(const Block& block, std::size_t octets) {
  const auto found = frames_.find(block);
  const bool fits = found != frames_.end() && found->second.region->bytes().size() == octets;
  if (fits) return &found->second;
  if (size() >= limits_.frames_of_user || totals_.frames >= limits_.frames) return nullptr;
  if (found != frames_.end()) {
    replaced_.push_back(std::move(found->second));
    frames_.erase(found);
  }
  Frame frame;
  frame.region = domain_.allocate(octets, kReadable);
  if (!frame.region || !frame.region->valid()) return nullptr;
  ++totals_.frames;
  return &(frames_[block] = std::move(frame));
}

std::optional<direct::Reference> Frames::grant(const Block& block, std::uint32_t length, Time now,
                                               const Fill& fill) {
  Frame* frame = prepare(block, length + kFrameOctets);
  if (!frame) return std::nullopt;
  frame->granted = now;
  const MutableView octets = frame->region->bytes();
  if (!fill(frame_data(octets))) return wipe(*frame), std::nullopt;
  frame->generation = fresh_generation();
  seal_frame(octets, frame->generation);
  ++totals_.counters.grants;
  return reference(block, *frame);
}

void Frames::wipe(Frame& frame) {
  wipe_frame(frame.region->bytes());
  if (std::exchange(frame.generation, 0) != 0) ++totals_.counters.revocations;
}

void Frames::revoke(NodeId node, std::uint64_t from, std::uint64_t to) {
  if (from >= to) return;
  const Block last{node, (to - 1) / limits_.block_bytes};
  auto frame = frames_.lower_bound({node, from / limits_.block_bytes});
  for (; frame != frames_.end() && frame->first <= last; ++frame) wipe(frame->second);
}

void Frames::take_back(std::span<const direct::Reference> references) {
  const auto is_named = [&](const Frame& frame) {
    return std::ranges::any_of(references, [&](const direct::Reference& each) {
      return each.stag == frame.region->stag() && each.base == frame.region->base() &&
             each.generation == frame.generation;
    });
  };
  totals_.frames -=
      std::erase_if(frames_, [&](const Map::value_type& each) { return is_named(each.second); });
}

void Frames::expire(Time now) {
  totals_.frames -= std::erase_if(
      frames_, [&](const Map::value_type& each) { return is_over(each.second, now); });
  totals_.frames -= std::erase_if(replaced_, [&](const Frame& each) { return is_over(each, now); });
}

}  // namespace steertag::peer
