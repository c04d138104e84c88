// Conversions between the storage's values and the types of NFS version 3.
#pragma once

#include "nfs/nfs3_types.h"
#include "server/storage/backend.h"

namespace steertag::peer {

nfs3::Status to_nfs3(Status status);
nfs3::Time to_nfs3(const Time& time);
nfs3::Fattr to_nfs3(const Attributes& attributes);
nfs3::WccAttr to_wcc(const Attributes& attributes);
AttributeChange from_nfs3(const nfs3::Sattr& attributes);

}  // namespace steertag::peer
