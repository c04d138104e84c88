// The handlers of the operations on filehandles, attributes, names and data.
// See compound_call.h for their shape.
#pragma once

#include "server/v4/compound_call.h"

namespace steertag::peer {

// file_handle_operations.cpp
void op_putfh(const nfs4::PutfhArgs& args, CompoundCall& call, nfs4::PutfhResult& result);
void op_putrootfh(const nfs4::Void& args, CompoundCall& call, nfs4::PutrootfhResult& result);
void op_getfh(const nfs4::Void& args, CompoundCall& call, nfs4::GetfhResult& result);
void op_savefh(const nfs4::Void& args, CompoundCall& call, nfs4::SavefhResult& result);
void op_restorefh(const nfs4::Void& args, CompoundCall& call, nfs4::RestorefhResult& result);
void op_lookup(const nfs4::LookupArgs& args, CompoundCall& call, nfs4::LookupResult& result);
void op_lookupp(const nfs4::Void& args, CompoundCall& call, nfs4::LookuppResult& result);
void op_secinfo(const nfs4::SecinfoArgs& args, CompoundCall& call, nfs4::SecinfoResult& result);
void op_secinfo_no_name(const nfs4::SecinfoNoNameArgs& args, CompoundCall& call,
                        nfs4::SecinfoNoNameResult& result);

// attribute_operations.cpp
void op_access(const nfs4::AccessArgs& args, CompoundCall& call, nfs4::AccessResult& result);
void op_getattr(const nfs4::GetattrArgs& args, CompoundCall& call, nfs4::GetattrResult& result);
void op_setattr(const nfs4::SetattrArgs& args, CompoundCall& call, nfs4::SetattrResult& result);
void op_verify(const nfs4::VerifyArgs& args, CompoundCall& call, nfs4::VerifyResult& result);
void op_nverify(const nfs4::NverifyArgs& args, CompoundCall& call, nfs4::NverifyResult& result);

// io_operations.cpp
void op_read(const nfs4::ReadArgs& args, CompoundCall& call, nfs4::ReadResult& result);
void op_write(const nfs4::WriteArgs& args, CompoundCall& call, nfs4::WriteResult& result);
void op_commit(const nfs4::CommitArgs& args, CompoundCall& call, nfs4::CommitResult& result);
void op_readlink(const nfs4::Void& args, CompoundCall& call, nfs4::ReadlinkResult& result);

// name_operations.cpp
void op_create(const nfs4::CreateArgs& args, CompoundCall& call, nfs4::CreateResult& result);
void op_remove(const nfs4::RemoveArgs& args, CompoundCall& call, nfs4::RemoveResult& result);
void op_rename(const nfs4::RenameArgs& args, CompoundCall& call, nfs4::RenameResult& result);
void op_link(const nfs4::LinkArgs& args, CompoundCall& call, nfs4::LinkResult& result);

// readdir.cpp
void op_readdir(const nfs4::ReaddirArgs& args, CompoundCall& call, nfs4::ReaddirResult& result);

}  // namespace steertag::peer
