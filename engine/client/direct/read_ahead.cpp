// The run of blocks, and the window before it.
#include "client/direct/read_ahead.h"

#include <algorithm>

namespace steertag::peer {

std::optional<std::uint64_t> ReadAhead::read(std::uint64_t block) {
  if (block == last_ + 1) {
    ++run_;
  } else if (block != last_) {
    run_ = 0;
    // What it has passed is asked for again, where it begins anew.
    asked_ = std::min(asked_, block);
    given_back_ = std::min(given_back_, block);
  }
  last_ = block;
  if (asking_ || run_ < kSequentialBlocks || block + kEagerReferences / 2 < asked_)
    return std::nullopt;
  asked_ = std::max(asked_, block + 1);
  if (asked_ >= end_) return std::nullopt;
  asking_ = true;
  return asked_;
}

std::optional<std::uint64_t> ReadAhead::granted(std::uint64_t references, std::uint64_t blocks) {
  asking_ = false;
  end_ = blocks;
  const std::uint64_t left = blocks - std::min(blocks, asked_);
  const std::uint64_t wanted = std::min<std::uint64_t>(left, kEagerReferences);
  asked_ += std::min(references, wanted);
  if (references >= wanted) return std::nullopt;
  const std::uint64_t behind = last_ - std::min(last_, kKeptBehind);
  // Nothing to give for what is wanted: those blocks come by RPC.
  if (behind <= given_back_) return asked_ += wanted - references, std::nullopt;
  given_back_ = behind;
  return behind;
}

void ReadAhead::refused() {
  asking_ = false;
  asked_ = UINT64_MAX;
}

}  // namespace steertag::peer
