// Byte-range locks of a file.
#include "server/v4/state/byte_ranges.h"

#include <algorithm>

namespace steertag::peer {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};

/// Takes `range` out of what the state's owner has in the file, which leaves up to two rests of
/// each piece.
void carve(LockState& state, ByteRange range) {
  std::vector<LockRange>& all = state.file->ranges;
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) {
    LockRange& each = all[i];
    if (each.state->owner != state.owner || each.first > range.last || each.last < range.first)
      continue;
    const LockRange old = each;
    const bool left = old.first < range.first;
    const bool right = old.last > range.last;
    if (left) each.last = range.first - 1;
    if (right && left) {
      all.push_back({range.last + 1, old.last, old.write, old.state});
    } else if (right) {
      each.first = range.last + 1;
    } else if (!left) {
      each.state = nullptr;
    }
  }
  std::erase_if(all, [](const LockRange& each) { return each.state == nullptr; });
}

/// Counts again what the client holds after `change`.
template <class Change>
void counted(LockState& state, Change&& change) {
  const std::size_t before = state.file->ranges.size();
  change();
  Client& client = *state.owner->client;
  client.range_count = client.range_count + state.file->ranges.size() - before;
}

}  // namespace

std::optional<ByteRange> byte_range(std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return std::nullopt;
  if (length == kEnd) return ByteRange{offset, kEnd};
  if (length - 1 > kEnd - offset) return std::nullopt;
  return ByteRange{offset, offset + (length - 1)};
}

std::uint64_t length_of(const LockRange& range) {
  return range.last == kEnd ? kEnd : range.last - range.first + 1;
}

const LockRange* conflicting(const File& file, const LockOwner* owner, ByteRange range,
                             bool write) {
  for (const LockRange& each : file.ranges) {
    if (each.state->owner != owner && (write || each.write) && each.first <= range.last &&
        each.last >= range.first)
      return &each;
  }
  return nullptr;
}

void lock_range(LockState& state, ByteRange range, bool write) {
  counted(state, [&] {
    carve(state, range);
    std::vector<LockRange>& all = state.file->ranges;
    // At most one neighbour on each side, because ranges of an owner neither overlap nor adjoin
    // with the same type.
    std::erase_if(all, [&](const LockRange& each) {
      if (each.state->owner != state.owner || each.write != write) return false;
      const bool before = each.last != kEnd && each.last + 1 == range.first;
      const bool behind = range.last != kEnd && range.last + 1 == each.first;
      if (before) range.first = each.first;
      if (behind) range.last = each.last;
      return before || behind;
    });
    all.push_back({range.first, range.last, write, &state});
  });
}

bool unlock_splits(const LockState& state, ByteRange range) {
  return std::ranges::any_of(state.file->ranges, [&](const LockRange& each) {
    return each.state->owner == state.owner && each.first < range.first && each.last > range.last;
  });
}

void unlock_range(LockState& state, ByteRange range) {
  counted(state, [&] { carve(state, range); });
}

}  // namespace steertag::peer
