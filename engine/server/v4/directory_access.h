// What operations on directories ask before they look at or change an entry.
#pragma once

#include "server/v4/compound_call.h"

namespace steertag::peer {

/// NFS4_OK for a directory, else NFS4ERR_NOTDIR.
nfs4::Status check_directory(const Attributes& attributes);
/// NFS4_OK for a regular file, or what READ, WRITE and COMMIT say of another object.
nfs4::Status check_regular(const Attributes& attributes, std::uint32_t minorversion);

/// Whether the caller may look names up in the directory.
nfs4::Status check_search(const Object& directory, const CompoundCall& call);
/// Whether the caller may make and remove names in the directory.
nfs4::Status check_writable(const Object& directory, const CompoundCall& call);
/// Whether the sticky bit lets the caller take this object's name out of the directory.
nfs4::Status check_unlink(const Object& directory, const Object& object, const CompoundCall& call);

/// The object of that name, or the storage's status. The name must have been checked.
Expected<Object, nfs4::Status> entry_of(const Object& directory, std::string_view name,
                                        const CompoundCall& call);
/// change_info4 around what was done since `before` was read: nothing else runs in between.
nfs4::ChangeInfo change_since(const Object& before, const CompoundCall& call);

}  // namespace steertag::peer
