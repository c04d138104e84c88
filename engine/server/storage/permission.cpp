// UNIX permission bits.
#include "server/storage/permission.h"

#include <algorithm>

namespace steertag::peer {
namespace {

constexpr std::uint32_t kSetUid = 04000;
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kSticky = 01000;

}  // namespace

bool is_superuser(const Caller& caller) {
  return caller.uid == 0;
}

bool in_group(const Caller& caller, std::uint32_t gid) {
  return caller.gid == gid ||
         std::find(caller.gids.begin(), caller.gids.end(), gid) != caller.gids.end();
}

bool permits(const Attributes& attributes, const Caller& caller, AccessMode want) {
  const auto bit = static_cast<std::uint32_t>(want);
  if (is_superuser(caller)) {
    const bool runs = attributes.type == FileType::directory || (attributes.mode & 0111) != 0;
    return want != AccessMode::execute || runs;
  }
  std::uint32_t shift = 0;
  if (caller.uid == attributes.uid) {
    shift = 6;
  } else if (in_group(caller, attributes.gid)) {
    shift = 3;
  }
  return (attributes.mode >> shift & bit) != 0;
}

bool permits_io(const Attributes& attributes, const Caller& caller, AccessMode want) {
  return caller.uid == attributes.uid || permits(attributes, caller, want) ||
         (want == AccessMode::read && permits(attributes, caller, AccessMode::execute));
}

bool permits_unlink(const Attributes& directory, const Attributes& object, const Caller& caller) {
  return (directory.mode & kSticky) == 0 || is_superuser(caller) || caller.uid == object.uid ||
         caller.uid == directory.uid;
}

std::optional<std::uint32_t> permitted_mode(const Attributes& attributes, const Caller& caller,
                                            const AttributeChange& change,
                                            bool superuser_owns_all) {
  const bool is_program = attributes.type != FileType::directory;
  if (!change.mode || !is_program || (is_superuser(caller) && superuser_owns_all))
    return change.mode;
  std::uint32_t mode = *change.mode;
  if (caller.uid != attributes.uid) mode &= ~kSetUid;
  // An owner that gives the file a group is in that group, see permits_change.
  const std::uint32_t group = change.gid.value_or(attributes.gid);
  if (!in_group(caller, group)) mode &= ~kSetGid;
  return mode;
}

Status permits_change(const Attributes& attributes, const Caller& caller,
                      const AttributeChange& change) {
  if (is_superuser(caller)) return Status::ok;
  const bool owner = caller.uid == attributes.uid;
  // Not even to what they are: the host takes set-id bits away with every change of an owner.
  if (change.uid && !(owner && *change.uid == attributes.uid)) return Status::not_owner;
  const bool own_group =
      change.gid && (*change.gid == attributes.gid || in_group(caller, *change.gid));
  if (change.gid && !(owner && own_group)) return Status::not_owner;
  if (change.mode && !owner) return Status::not_owner;
  if ((change.atime.to || change.mtime.to) && !owner) return Status::not_owner;
  if ((change.atime.to_server_time || change.mtime.to_server_time) && !owner &&
      !permits(attributes, caller, AccessMode::write))
    return Status::access;
  if (change.size_bytes && !permits_io(attributes, caller, AccessMode::write))
    return Status::access;
  return Status::ok;
}

}  // namespace steertag::peer
