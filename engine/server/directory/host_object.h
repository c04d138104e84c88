// An object of the host that was opened without side effects, with what the host says about it.
#pragma once

#include <sys/stat.h>

#include <array>

#include "server/directory/descriptor.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// The key of handles and cookies (see filehandle_mac.h).
using HandleKey = std::array<std::uint64_t, 2>;

struct HostObject {
  Descriptor descriptor;  // usually O_PATH: neither reads nor writes, never waits
  struct statx status {};

  NodeId node() const { return status.stx_ino; }
  FileType type() const;
  bool is_directory() const { return type() == FileType::directory; }
};

/// Asks the host again; Status::ok or the host's error.
Status refresh(HostObject& object);
Attributes to_attributes(const HostObject& object, std::uint64_t filesystem_id);

/// Tells this object from every other one that had or will have its inode number. It is a keyed
/// code of the host's own file handle and of the time of birth, each where the file system has it.
/// On a file system with neither a reused number passes for the old object. An overlay gives an
/// object of its lower layer a new time of birth with the first change.
std::uint64_t fingerprint(const HostObject& object, const HandleKey& key);

}  // namespace steertag::peer
