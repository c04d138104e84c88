// Keeps a packet's fragments as disjoint ranges, whose sum shows when all have arrived.
#include "capture/link/fragments.h"

#include <algorithm>
#include <utility>

namespace steertag::capture {
namespace {

// RFC 791 3.1, RFC 8200 4.5: offsets have this unit. Every fragment but the last is a multiple.
constexpr std::size_t kFragmentUnit = 8;

bool is_plausible(const Fragment& fragment) {
  return fragment.length > 0 && (!fragment.more || fragment.length % kFragmentUnit == 0) &&
         fragment.offset + fragment.length <= kMostReassembledBytes;
}

}  // namespace

std::optional<Reassembled> Fragments::add(const FragmentKey& key, const Fragment& fragment,
                                          std::uint64_t frame) {
  if (!is_plausible(fragment)) return std::nullopt;
  Pending& pending = find(key, frame);
  if (pending.is_void) return std::nullopt;
  if (!put(pending, fragment)) {
    pending.is_void = true;
    pending.ranges = {};
    pending.octets = {};
    return std::nullopt;
  }
  if (!pending.length || pending.received < *pending.length) return std::nullopt;
  complete_ = std::move(pending);
  pending_.erase(pending_.begin() + (&pending - pending_.data()));
  const std::size_t whole = std::min(complete_.whole, complete_.octets.size());
  return Reassembled{View(complete_.octets).first(whole), *complete_.length, complete_.protocol};
}

Fragments::Pending& Fragments::find(const FragmentKey& key, std::uint64_t frame) {
  const auto old = [&](const Pending& each) { return each.frame + kMostFragmentAge < frame; };
  std::erase_if(pending_, old);
  const auto found = std::ranges::find(pending_, key, &Pending::key);
  if (found != pending_.end()) return *found;
  if (pending_.size() == kMostFragmentedPackets) pending_.erase(pending_.begin());
  pending_.push_back({});
  pending_.back().key = key;
  pending_.back().frame = frame;
  return pending_.back();
}

/// False if the fragment contradicts the earlier ones.
bool Fragments::put(Pending& pending, const Fragment& fragment) {
  const Range range{fragment.offset, fragment.offset + fragment.length};
  auto& ranges = pending.ranges;
  const auto after = std::ranges::lower_bound(ranges, range.begin, {}, &Range::begin);
  if (after != ranges.end() && *after == range) return true;
  if (after != ranges.end() && after->begin < range.end) return false;
  if (after != ranges.begin() && std::prev(after)->end > range.begin) return false;
  if (!fragment.more) {
    if (pending.length || (!ranges.empty() && ranges.back().end > range.end)) return false;
    pending.length = range.end;
  } else if (pending.length && range.end > *pending.length) {
    return false;
  }
  ranges.insert(after, range);
  pending.received += fragment.length;
  if (fragment.offset == 0) pending.protocol = fragment.protocol;
  if (fragment.octets.size() < fragment.length) {
    pending.whole = std::min(pending.whole, fragment.offset + fragment.octets.size());
  }
  if (pending.octets.size() < range.end) pending.octets.resize(range.end);
  std::ranges::copy(fragment.octets.first(std::min(fragment.octets.size(), fragment.length)),
                    pending.octets.begin() + static_cast<std::ptrdiff_t>(range.begin));
  return true;
}

}  // namespace steertag::capture
