// Why something with a remote file did not work, in one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/rdma/call_result.h"
#include "nfs/mount3.h"
#include "nfs/nfs3_enums.h"
#include "nfs/v4/status.h"

namespace steertag::peer {

enum class FileErrc : std::uint8_t {
  call_failed,          // no reply of use: see the detail
  refused,              // the server answered with an error status
  unsupported_version,  // the server does not speak this version of NFS
  no_mount,             // MOUNT version 3 is not on the port that should have it
  bad_results,          // the results do not decode, or contradict themselves
  not_regular,          // only regular files can be copied
  outside_export,       // a path or symbolic link to where the mounted export does not reach
  too_many_links,       // symbolic links that lead to symbolic links
  too_long,             // a listing or path beyond the named limit
  state_lost,           // the server forgot what the client had open, again and again
  lease_in_doubt,       // nothing goes to data servers before the metadata server has answered
  changed,              // the data changed while they were copied
  local_file,           // a file of this machine cannot be read or written
};
std::string_view sentence(FileErrc code);

struct FileError {
  FileErrc code = FileErrc::call_failed;
  std::string detail;        // what was tried, or what was wrong
  std::uint32_t status = 0;  // with `refused`: nfsstat3, mountstat3 or nfsstat4
  std::string status_name;   // its name in the RFC
  /// "OPEN "/a/b": NFS4ERR_NOENT (2): the name does not exist".
  std::string message() const;
  /// The same error with what was tried before it.
  FileError in(std::string_view what) const;
};

/// What the server answered to `what`, an operation's name.
FileError refused(nfs3::Status status, std::string_view what);
FileError refused(mount3::Status status, std::string_view what);
FileError refused(nfs4::Status status, std::string_view what);
FileError failed(const CallError& error, std::string_view what);

}  // namespace steertag::peer
