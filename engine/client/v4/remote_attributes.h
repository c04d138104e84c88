// What a client of version 4 asks about objects, and what the answers mean.
#pragma once

#include "client/files/remote_files.h"
#include "client/v4/client_compound.h"
#include "nfs/v4/attribute_codec.h"

namespace steertag::peer {

/// Attributes for GETATTR, these with what a listing needs beside them, and those for a listing of
/// names.
nfs4::Bitmap object_attributes();
nfs4::Bitmap entry_attributes();
nfs4::Bitmap name_attributes();
/// Those that limit READ and WRITE, and the time of the lease.
nfs4::Bitmap limit_attributes();

RemoteAttributes from_nfs4(const nfs4::Attributes& attributes);
/// The typed values of a fattr4, as an error if they do not decode.
Expected<nfs4::Attributes, FileError> typed(const nfs4::Fattr& fattr, std::string_view what);
/// The next result, which is that of GETATTR; of GETFH and GETATTR.
Expected<RemoteAttributes, FileError> take_attributes(CompoundReply& reply);
Expected<RemoteObject, FileError> take_object(CompoundReply& reply);

}  // namespace steertag::peer
