// Operations on the current and the saved filehandle, and on what may be done with them.
#include <algorithm>

#include "server/v4/component.h"
#include "server/v4/directory_access.h"
#include "server/v4/file_operations.h"
#include "server/v4/state/nfs4_state.h"
#include "server/v4/state/tables.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

/// What a client may use; none is better than the other, so the one with a caller comes first.
void offer_flavors(nfs4::SecinfoOk& offer) {
  offer.resok4 = {{rpc::AuthFlavor::AUTH_SYS, {}}, {rpc::AuthFlavor::AUTH_NONE, {}}};
}

/// Of one that the storage knows, so that it has as many octets as all of them.
Handle handle_of(const nfs4::FileHandle& object) {
  Handle handle;
  std::ranges::copy(object.view(), handle.begin());
  return handle;
}

}  // namespace

void op_putfh(const nfs4::PutfhArgs& args, CompoundCall& call, nfs4::PutfhResult& result) {
  const auto node = call.storage.resolve(args.object.view());
  if (!node) {
    // It may have been removed by another version of NFS, or on the host.
    if (node.error() == Status::stale) call.state.forget_file(handle_of(args.object));
    result.status = to_nfs4(node.error());
    return;
  }
  // As it came: a storage may have several handles of an object.
  call.current = CurrentFile{handle_of(args.object), {}};
}

void op_putrootfh(const nfs4::Void& /*args*/, CompoundCall& call,
                  nfs4::PutrootfhResult& /*result*/) {
  set_current(call, call.storage.root());
}

void op_getfh(const nfs4::Void& /*args*/, CompoundCall& call, nfs4::GetfhResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  result.resok4.object = nfs4::FileHandle(View(call.current->handle));
}

void op_savefh(const nfs4::Void& /*args*/, CompoundCall& call, nfs4::SavefhResult& result) {
  if (!call.current) {
    result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  call.saved = call.current;
}

void op_restorefh(const nfs4::Void& /*args*/, CompoundCall& call, nfs4::RestorefhResult& result) {
  if (!call.saved) {
    // RFC 7530 16.30.5; RFC 8881 18.27 knows the same case as NFS4ERR_NOFILEHANDLE.
    result.status = call.minorversion == 0 ? nfs4::Status::NFS4ERR_RESTOREFH
                                           : nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  const auto present = call.current ? call.current->stateid : nfs4::StateId{};
  call.current = call.saved;
  if (!call.state.tables().options.policy.restores_stateid) call.current->stateid = present;
}

void op_lookup(const nfs4::LookupArgs& args, CompoundCall& call, nfs4::LookupResult& result) {
  const auto directory = current_object(call);
  if (directory && directory->attributes.type == FileType::link) {
    result.status = nfs4::Status::NFS4ERR_SYMLINK;  // RFC 8881 18.13.4
    return;
  }
  result.status = directory ? check_search(*directory, call) : directory.error();
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_component(args.objname);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto entry = entry_of(*directory, args.objname, call);
  if (!entry) {
    result.status = entry.error();
    return;
  }
  set_current(call, entry->node);
}

void op_lookupp(const nfs4::Void& /*args*/, CompoundCall& call, nfs4::LookuppResult& result) {
  const auto directory = current_object(call);
  result.status = directory ? check_search(*directory, call) : directory.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  // RFC 8881 18.14.3: the root has no parent.
  const auto parent = directory->node == call.storage.root()
                          ? tl::unexpected(Status::no_entry)
                          : call.storage.lookup(directory->node, "..");
  if (!parent) {
    result.status = to_nfs4(parent.error());
    return;
  }
  set_current(call, *parent);
}

/// RFC 8881 18.29.3, 18.45.3.
void consume_current(CompoundCall& call) {
  if (call.state.tables().options.policy.secinfo_consumes) call.current.reset();
}

void op_secinfo(const nfs4::SecinfoArgs& args, CompoundCall& call, nfs4::SecinfoResult& result) {
  const auto directory = current_object(call);
  result.status = directory ? check_search(*directory, call) : directory.error();
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_component(args.name);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto entry = entry_of(*directory, args.name, call);
  if (!entry) {
    result.status = entry.error();
    return;
  }
  offer_flavors(result.resok4);
  // RFC 8881 18.29.3: it consumes the current filehandle, which it does not in RFC 7530 16.31.
  if (call.minorversion > 0) consume_current(call);
}

void op_secinfo_no_name(const nfs4::SecinfoNoNameArgs& args, CompoundCall& call,
                        nfs4::SecinfoNoNameResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  if (args.style == nfs4::SecinfoStyle::SECINFO_STYLE4_PARENT) {
    result.status = check_search(*object, call);
    if (result.status == nfs4::Status::NFS4_OK && object->node == call.storage.root())
      result.status = nfs4::Status::NFS4ERR_NOENT;
  }
  if (result.status != nfs4::Status::NFS4_OK) return;
  offer_flavors(result.resok4);
  consume_current(call);
}

}  // namespace steertag::peer
