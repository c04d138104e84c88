// Grants, revocations and leases of frames.
#include "server/direct/frames.h"

#include <algorithm>
#include <utility>

#include "endpoint/block_frame.h"

namespace steertag::peer {

Frames::~Frames() {
  if (policy_.grants.returns_memory) return;
  for (auto& [block, frame] : frames_) (void)frame.slot.release();
  for (Frame& frame : replaced_) (void)frame.slot.release();
}

MutableView Frames::octets(const Frame& frame) const {
  const MutableView all = frame.region->bytes();
  return all.first(all.size() - policy_.grants.octets_behind);
}

direct::Reference Frames::reference(const Block& block, const Frame& frame) const {
  return {frame.region->stag(), frame.region->base(), frame.generation,
          block.number * limits_.block_bytes,
          static_cast<std::uint32_t>(octets(frame).size() - kFrameOctets)};
}

std::optional<direct::Reference> Frames::renew(const Block& block, Time now) {
  const auto found = frames_.find(block);
  if (found == frames_.end() || found->second.generation == 0) return std::nullopt;
  found->second.granted = now;
  ++totals_.counters.grants;
  return reference(block, found->second);
}

std::uint64_t Frames::next_generation(const Frame& frame) const {
  if (!policy_.grants.fresh_generations && frame.last_generation != 0) return frame.last_generation;
  std::uint64_t generation = random_();
  while (generation == 0) generation = random_();
  return generation;
}

FramePlace Frames::choose_place() {
  switch (policy_.grants.places) {
    case PlaceChoice::random:
      break;
    case PlaceChoice::bases_in_a_row:
      return {totals_.last_base += kBaseStep, {}};
    case PlaceChoice::growing_bases:
      return {totals_.last_base += sizeof(std::uint64_t) * (1 + random_() % kBaseStep), {}};
    case PlaceChoice::stags_in_a_row:
      return {{}, totals_.last_stag += kStagStep};
    case PlaceChoice::bases_of_stags: {
      const auto stag = static_cast<std::uint32_t>(random_());
      return {std::uint64_t{stag} << kBaseShift, stag};
    }
    case PlaceChoice::returned: {
      if (totals_.returned.empty()) break;
      const FramePlace place = totals_.returned.back();
      totals_.returned.pop_back();
      return place;
    }
  }
  return {};
}

std::unique_ptr<fabric::Region> Frames::allocate(std::size_t octets) {
  const fabric::Rights rights{.remote_read = true, .remote_write = !policy_.grants.read_only};
  const std::size_t all = octets + policy_.grants.octets_behind;
  if (policy_.grants.places != PlaceChoice::random) {
    const FramePlace place = choose_place();
    return domain_.allocate(all, rights, place.base, place.stag);
  }
  if (!window_of_) return domain_.allocate(all, rights);
  auto region = domain_.allocate(all, {});
  // A connection whose setup has not quite ended gives none. The domain is its user's own.
  if (region && !window_of_->open_window(*region, rights)) region->open(rights);
  return region;
}

std::optional<Frames::Frame> Frames::find_wiped(std::size_t octets) {
  if (policy_.grants.own_frames) return std::nullopt;
  const auto found = std::ranges::find_if(frames_, [&](const Map::value_type& each) {
    return each.second.generation == 0 && this->octets(each.second).size() == octets;
  });
  if (found == frames_.end()) return std::nullopt;
  Frame frame = std::move(found->second);
  frames_.erase(found);
  return frame;
}

Frames::Frame* Frames::prepare(const Block& block, std::size_t octets) {
  const auto found = frames_.find(block);
  const bool fits = found != frames_.end() && this->octets(found->second).size() == octets;
  if (fits) return &found->second;
  if (auto other = find_wiped(octets)) return &(frames_[block] = std::move(*other));
  net::SourceQuota::Slot slot;
  if (auto admitted = totals_.frames.admit(peer_)) slot = std::move(*admitted);
  const bool is_full = size() >= limits_.frames_of_user || !slot;
  if (policy_.grants.keeps_limits && is_full) return nullptr;
  if (found != frames_.end()) {
    replaced_.push_back(std::move(found->second));
    frames_.erase(found);
  }
  Frame frame;
  frame.slot = std::move(slot);
  frame.region = allocate(octets);
  if (!frame.region || !frame.region->valid()) return nullptr;
  return &(frames_[block] = std::move(frame));
}

std::optional<direct::Reference> Frames::grant(const Block& block, std::uint32_t length, Time now,
                                               const Fill& fill) {
  Frame* frame = prepare(block, length + kFrameOctets);
  if (!frame) return std::nullopt;
  frame->granted = now;
  const MutableView to = octets(*frame);
  if (!fill(frame_data(to))) return wipe(*frame), std::nullopt;
  frame->generation = frame->last_generation = next_generation(*frame);
  seal_frame(to, frame->generation);
  ++totals_.counters.grants;
  return reference(block, *frame);
}

void Frames::wipe(Frame& frame) {
  const MutableView wiped = octets(frame);
  if (policy_.revocation.seals_half && frame.generation != 0) {
    const MutableView data = frame_data(wiped);
    for (std::byte& octet : data.subspan(data.size() / 2)) octet = ~octet;
    return seal_frame(wiped, frame.generation);
  }
  if (policy_.revocation.wipes_data) {
    wipe_frame(wiped);
  } else {
    std::ranges::fill(wiped.first(kFrameHeadOctets), std::byte{0});
  }
  if (std::exchange(frame.generation, 0) != 0) ++totals_.counters.revocations;
}

void Frames::revoke(NodeId node, std::uint64_t from, std::uint64_t to) {
  if (from >= to) return;
  const Block last{node, (to - 1) / limits_.block_bytes};
  auto frame = frames_.lower_bound({node, from / limits_.block_bytes});
  while (frame != frames_.end() && frame->first <= last) {
    // Nothing is left to wipe where nothing was granted since: a file that is changed all the time
    // costs no more.
    if (frame->second.generation != 0) wipe(frame->second);
    if (keeps_revoked_) {
      ++frame;
    } else {
      frame = frames_.erase(frame);
    }
  }
}

void Frames::take_back(std::span<const direct::Reference> references) {
  const auto is_named = [&](const Frame& frame) {
    return std::ranges::any_of(references, [&](const direct::Reference& each) {
      return each.stag == frame.region->stag() && each.base == frame.region->base() &&
             each.generation == frame.generation;
    });
  };
  if (!policy_.grants.closes_returned) {
    for (auto& [block, frame] : frames_)
      if (is_named(frame)) frame.generation = 0;
    return;
  }
  std::erase_if(frames_, [&](const Map::value_type& each) {
    if (!is_named(each.second)) return false;
    if (policy_.grants.places == PlaceChoice::returned)
      totals_.returned.push_back({each.second.region->base(), each.second.region->stag()});
    return true;
  });
}

std::set<NodeId> Frames::nodes() const {
  std::set<NodeId> nodes;
  for (const auto& [block, frame] : frames_) nodes.insert(block.node);
  return nodes;
}

MutableView Frames::find(std::uint32_t stag) {
  const auto found = std::ranges::find_if(
      frames_, [&](const Map::value_type& each) { return each.second.region->stag() == stag; });
  return found == frames_.end() ? MutableView{} : octets(found->second);
}

void Frames::expire(Time now) {
  std::erase_if(frames_, [&](const Map::value_type& each) { return is_over(each.second, now); });
  std::erase_if(replaced_, [&](const Frame& each) { return is_over(each, now); });
}

}  // namespace steertag::peer
