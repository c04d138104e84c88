// The rules for component4: what a name in a COMPOUND may be (RFC 7530 12.7, RFC 8881 14).
#pragma once

#include <string_view>

#include "nfs/v4/status.h"

namespace steertag::peer {

/// Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF (RFC 3629).
bool is_utf8(std::string_view text);

/// NFS4_OK, or NFS4ERR_INVAL (empty, not UTF-8), NFS4ERR_NAMETOOLONG, NFS4ERR_BADCHAR (slash, NUL),
/// NFS4ERR_BADNAME ("." and "..").
nfs4::Status check_component(std::string_view name);

}  // namespace steertag::peer
