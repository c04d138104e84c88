// Keys and times of references.
#include "client/direct/reference_directory.h"

namespace steertag::peer {
namespace {

/// Blocks behind the first 2^32 of a file have none: no storage of ours has so many.
std::optional<std::uint64_t> key_of(RemoteFile file, std::uint64_t block) {
  if (block > UINT32_MAX) return std::nullopt;
  return std::uint64_t{file} << 32 | block;
}

}  // namespace

void ReferenceDirectory::put(RemoteFile file, std::uint64_t block,
                             const direct::Reference& reference, Time end) {
  if (const auto key = key_of(file, block)) references_.put(*key) = {reference, end};
}

std::optional<direct::Reference> ReferenceDirectory::find(RemoteFile file, std::uint64_t block,
                                                          Time now) {
  const auto key = key_of(file, block);
  const Entry* const found = key ? references_.find(*key) : nullptr;
  if (!found) return std::nullopt;
  if (now < found->end) return found->reference;
  references_.erase(*key);
  return std::nullopt;
}

void ReferenceDirectory::erase(RemoteFile file, std::uint64_t block) {
  if (const auto key = key_of(file, block)) references_.erase(*key);
}

std::vector<direct::Reference> ReferenceDirectory::take_before(RemoteFile file,
                                                               std::uint64_t block) {
  std::vector<direct::Reference> taken;
  references_.erase_if([&](std::uint64_t key, const Entry& entry) {
    const bool is_taken = key >> 32 == file && (key & UINT32_MAX) < block;
    if (is_taken) taken.push_back(entry.reference);
    return is_taken;
  });
  return taken;
}

}  // namespace steertag::peer
