// fattr4 as something to do: the attributes that SETATTR, CREATE and OPEN set.
#pragma once

#include "nfs/v4/types.h"
#include "server/rpc/program.h"
#include "server/storage/backend.h"
#include "server/v4/compound_call.h"
#include "support/expected.h"

namespace steertag::peer {

/// What a fattr4 asks for. NFS4ERR_ATTRNOTSUPP for an attribute that is not supported,
/// NFS4ERR_INVAL for one that cannot be set and for values out of range, NFS4ERR_BADXDR,
/// NFS4ERR_BADOWNER. With success all of `fattr.attrmask` is in the change.
Expected<AttributeChange, nfs4::Status> requested_change(const nfs4::Fattr& fattr,
                                                         const CompoundCall& call);

/// A new object of this type that belongs to the caller. It gets the part of `change` that the
/// caller may set: only the superuser gives objects away.
NewNode new_node(FileType type, const AttributeChange& change, const Caller& caller);

/// owner and owner_group of a number, and back: numeric strings (RFC 8881 5.9), and name@domain for
/// "root" and the name of Caller::kAnonymous. NFS4ERR_BADOWNER for any other, NFS4ERR_INVAL for
/// none.
std::string owner_text(std::uint32_t id);
Expected<std::uint32_t, nfs4::Status> owner_number(std::string_view text);

}  // namespace steertag::peer
