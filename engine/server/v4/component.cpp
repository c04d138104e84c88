// The rules for component4.
#include "server/v4/component.h"

#include "server/storage/entry_name.h"

namespace steertag::peer {

nfs4::Status check_component(std::string_view name) {
  using nfs4::Status;
  if (name.empty()) return Status::NFS4ERR_INVAL;
  if (name.size() > kLongestName) return Status::NFS4ERR_NAMETOOLONG;
  if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
    return Status::NFS4ERR_BADCHAR;
  return is_dots(name) ? Status::NFS4ERR_BADNAME : Status::NFS4_OK;
}

}  // namespace steertag::peer
