// What READ, WRITE and COMMIT share at each kind of server.
#pragma once

#include "server/storage/permission.h"
#include "server/v4/compound_call.h"

namespace steertag::peer {

/// Whether the object is a file that the caller may read or write, whatever the stateid.
nfs4::Status check_access(const Object& object, AccessMode want, const CompoundCall& call);

/// The verifier of WRITE and COMMIT (RFC 8881 18.32.3).
nfs4::Verifier write_verifier(const CompoundCall& call);

}  // namespace steertag::peer
