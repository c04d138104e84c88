// The rules for component4: what a name in a COMPOUND may be.
#pragma once

#include <string_view>

#include "nfs/v4/status.h"

namespace steertag::peer {

/// NFS4_OK, or NFS4ERR_INVAL (empty), NFS4ERR_NAMETOOLONG, NFS4ERR_BADCHAR (slash, NUL),
/// NFS4ERR_BADNAME ("." and "..").
///
/// A name need not be UTF-8. RFC 7530 12.8 allows names of any octets, compared octet by octet. RFC
/// 8881 14.4 has fs_charset_cap to say so. The host and NFSv3 name files in any way, READDIR lists
/// what is there, and what is listed has to be within reach. For that reason the server follows
/// neither of two recommendations. RFC 8881 14.4 has it announce FSCHARSET_CAP4_ALLOWS_ONLY_UTF8.
/// 14.5 has it refuse other names with NFS4ERR_INVAL.
nfs4::Status check_component(std::string_view name);

}  // namespace steertag::peer
