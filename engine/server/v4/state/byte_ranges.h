// Byte-range locks of a file (RFC 7530 9.2, 9.3, RFC 8881 9.2): conflicts, splits and merges.
#pragma once

#include "server/v4/state/byte_range.h"
#include "server/v4/state/tables.h"

namespace steertag::peer {

/// First and last octet of offset and length. It is nullopt for what is NFS4ERR_INVAL: no octet, or
/// more than there are up to the last of a file. Length all ones reaches to the end of every file.
std::optional<ByteRange> byte_range(std::uint64_t offset, std::uint64_t length);
std::uint64_t length_of(const LockRange& range);

/// A lock of another owner that is in the way of this one, or nullptr. An owner (nullptr: one that
/// is not known) is never in its own way.
const LockRange* conflicting(const File& file, const LockOwner* owner, ByteRange range, bool write);

/// How many ranges more there could be after one LOCK or LOCKU of a file: it splits one and adds
/// one.
inline constexpr std::size_t kMostNewRanges = 2;

/// Whether unlocking this range makes two locks of one, which is the only way to have more of them.
bool unlock_splits(const LockState& state, ByteRange range);

/// The owner of `state` has this range locked from now on with this type, whatever part of it was
/// locked before. Adjoining ranges of one type become one.
void lock_range(LockState& state, ByteRange range, bool write);
/// The owner has nothing of this range locked any more.
void unlock_range(LockState& state, ByteRange range);

}  // namespace steertag::peer
