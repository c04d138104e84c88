// The handlers of the operations of pNFS: at the metadata server, and those of data servers.
// See compound_call.h for their shape.
#pragma once

#include "server/v4/compound_call.h"

namespace steertag::peer {

// layout_operations.cpp
void op_layoutget(const nfs4::LayoutgetArgs& args, CompoundCall& call,
                  nfs4::LayoutgetResult& result);
void op_layoutcommit(const nfs4::LayoutcommitArgs& args, CompoundCall& call,
                     nfs4::LayoutcommitResult& result);
void op_layoutreturn(const nfs4::LayoutreturnArgs& args, CompoundCall& call,
                     nfs4::LayoutreturnResult& result);

// device_operations.cpp
void op_getdeviceinfo(const nfs4::GetdeviceinfoArgs& args, CompoundCall& call,
                      nfs4::GetdeviceinfoResult& result);
void op_getdevicelist(const nfs4::GetdevicelistArgs& args, CompoundCall& call,
                      nfs4::GetdevicelistResult& result);

// data_server_operations.cpp: the operations of RFC 8881 13.6 on filehandles of layouts.
void op_put_component(const nfs4::PutfhArgs& args, CompoundCall& call, nfs4::PutfhResult& result);
void op_read_component(const nfs4::ReadArgs& args, CompoundCall& call, nfs4::ReadResult& result);
void op_write_component(const nfs4::WriteArgs& args, CompoundCall& call, nfs4::WriteResult& result);
void op_commit_component(const nfs4::CommitArgs& args, CompoundCall& call,
                         nfs4::CommitResult& result);

}  // namespace steertag::peer
