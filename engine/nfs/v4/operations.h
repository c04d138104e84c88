// The operations of COMPOUND (RFC 7530 16, RFC 8881 18).
// Number, name, types of arguments and result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nfs/v4/attribute_ops.h"
#include "nfs/v4/client_ops.h"
#include "nfs/v4/delegation_ops.h"
#include "nfs/v4/directory_ops.h"
#include "nfs/v4/file_handle_ops.h"
#include "nfs/v4/io_ops.h"
#include "nfs/v4/layout_ops.h"
#include "nfs/v4/lock_ops.h"
#include "nfs/v4/open_ops.h"
#include "nfs/v4/session_ops.h"
#include "nfs/v4/signature.h"
#include "nfs/v4/stateid_ops.h"

namespace steertag::nfs4 {

/// nfs_opnum4 of minor versions 0 and 1.
enum class Opnum : std::uint32_t {
  OP_ACCESS = 3,
  OP_CLOSE = 4,
  OP_COMMIT = 5,
  OP_CREATE = 6,
  OP_DELEGPURGE = 7,
  OP_DELEGRETURN = 8,
  OP_GETATTR = 9,
  OP_GETFH = 10,
  OP_LINK = 11,
  OP_LOCK = 12,
  OP_LOCKT = 13,
  OP_LOCKU = 14,
  OP_LOOKUP = 15,
  OP_LOOKUPP = 16,
  OP_NVERIFY = 17,
  OP_OPEN = 18,
  OP_OPENATTR = 19,
  OP_OPEN_CONFIRM = 20,
  OP_OPEN_DOWNGRADE = 21,
  OP_PUTFH = 22,
  OP_PUTPUBFH = 23,
  OP_PUTROOTFH = 24,
  OP_READ = 25,
  OP_READDIR = 26,
  OP_READLINK = 27,
  OP_REMOVE = 28,
  OP_RENAME = 29,
  OP_RENEW = 30,
  OP_RESTOREFH = 31,
  OP_SAVEFH = 32,
  OP_SECINFO = 33,
  OP_SETATTR = 34,
  OP_SETCLIENTID = 35,
  OP_SETCLIENTID_CONFIRM = 36,
  OP_VERIFY = 37,
  OP_WRITE = 38,
  OP_RELEASE_LOCKOWNER = 39,
  OP_BACKCHANNEL_CTL = 40,
  OP_BIND_CONN_TO_SESSION = 41,
  OP_EXCHANGE_ID = 42,
  OP_CREATE_SESSION = 43,
  OP_DESTROY_SESSION = 44,
  OP_FREE_STATEID = 45,
  OP_GET_DIR_DELEGATION = 46,
  OP_GETDEVICEINFO = 47,
  OP_GETDEVICELIST = 48,
  OP_LAYOUTCOMMIT = 49,
  OP_LAYOUTGET = 50,
  OP_LAYOUTRETURN = 51,
  OP_SECINFO_NO_NAME = 52,
  OP_SEQUENCE = 53,
  OP_SET_SSV = 54,
  OP_TEST_STATEID = 55,
  OP_WANT_DELEGATION = 56,
  OP_DESTROY_CLIENTID = 57,
  OP_RECLAIM_COMPLETE = 58,
  OP_ILLEGAL = 10044,
};
/// Names without the prefix: "ACCESS".
inline constexpr rpc::Named<Opnum> kOpnumNames[] = {
    {Opnum::OP_ACCESS, "ACCESS"},
    {Opnum::OP_CLOSE, "CLOSE"},
    {Opnum::OP_COMMIT, "COMMIT"},
    {Opnum::OP_CREATE, "CREATE"},
    {Opnum::OP_DELEGPURGE, "DELEGPURGE"},
    {Opnum::OP_DELEGRETURN, "DELEGRETURN"},
    {Opnum::OP_GETATTR, "GETATTR"},
    {Opnum::OP_GETFH, "GETFH"},
    {Opnum::OP_LINK, "LINK"},
    {Opnum::OP_LOCK, "LOCK"},
    {Opnum::OP_LOCKT, "LOCKT"},
    {Opnum::OP_LOCKU, "LOCKU"},
    {Opnum::OP_LOOKUP, "LOOKUP"},
    {Opnum::OP_LOOKUPP, "LOOKUPP"},
    {Opnum::OP_NVERIFY, "NVERIFY"},
    {Opnum::OP_OPEN, "OPEN"},
    {Opnum::OP_OPENATTR, "OPENATTR"},
    {Opnum::OP_OPEN_CONFIRM, "OPEN_CONFIRM"},
    {Opnum::OP_OPEN_DOWNGRADE, "OPEN_DOWNGRADE"},
    {Opnum::OP_PUTFH, "PUTFH"},
    {Opnum::OP_PUTPUBFH, "PUTPUBFH"},
    {Opnum::OP_PUTROOTFH, "PUTROOTFH"},
    {Opnum::OP_READ, "READ"},
    {Opnum::OP_READDIR, "READDIR"},
    {Opnum::OP_READLINK, "READLINK"},
    {Opnum::OP_REMOVE, "REMOVE"},
    {Opnum::OP_RENAME, "RENAME"},
    {Opnum::OP_RENEW, "RENEW"},
    {Opnum::OP_RESTOREFH, "RESTOREFH"},
    {Opnum::OP_SAVEFH, "SAVEFH"},
    {Opnum::OP_SECINFO, "SECINFO"},
    {Opnum::OP_SETATTR, "SETATTR"},
    {Opnum::OP_SETCLIENTID, "SETCLIENTID"},
    {Opnum::OP_SETCLIENTID_CONFIRM, "SETCLIENTID_CONFIRM"},
    {Opnum::OP_VERIFY, "VERIFY"},
    {Opnum::OP_WRITE, "WRITE"},
    {Opnum::OP_RELEASE_LOCKOWNER, "RELEASE_LOCKOWNER"},
    {Opnum::OP_BACKCHANNEL_CTL, "BACKCHANNEL_CTL"},
    {Opnum::OP_BIND_CONN_TO_SESSION, "BIND_CONN_TO_SESSION"},
    {Opnum::OP_EXCHANGE_ID, "EXCHANGE_ID"},
    {Opnum::OP_CREATE_SESSION, "CREATE_SESSION"},
    {Opnum::OP_DESTROY_SESSION, "DESTROY_SESSION"},
    {Opnum::OP_FREE_STATEID, "FREE_STATEID"},
    {Opnum::OP_GET_DIR_DELEGATION, "GET_DIR_DELEGATION"},
    {Opnum::OP_GETDEVICEINFO, "GETDEVICEINFO"},
    {Opnum::OP_GETDEVICELIST, "GETDEVICELIST"},
    {Opnum::OP_LAYOUTCOMMIT, "LAYOUTCOMMIT"},
    {Opnum::OP_LAYOUTGET, "LAYOUTGET"},
    {Opnum::OP_LAYOUTRETURN, "LAYOUTRETURN"},
    {Opnum::OP_SECINFO_NO_NAME, "SECINFO_NO_NAME"},
    {Opnum::OP_SEQUENCE, "SEQUENCE"},
    {Opnum::OP_SET_SSV, "SET_SSV"},
    {Opnum::OP_TEST_STATEID, "TEST_STATEID"},
    {Opnum::OP_WANT_DELEGATION, "WANT_DELEGATION"},
    {Opnum::OP_DESTROY_CLIENTID, "DESTROY_CLIENTID"},
    {Opnum::OP_RECLAIM_COMPLETE, "RECLAIM_COMPLETE"},
    {Opnum::OP_ILLEGAL, "ILLEGAL"},
};
constexpr std::span<const rpc::Named<Opnum>> names_of(Opnum) {
  return kOpnumNames;
}
/// A peer may send any number; the answer to one that is unknown is OP_ILLEGAL, no fault.
constexpr bool is_open(Opnum) {
  return true;
}

/// The operation of that name ("READ"), and the one of that number; nullopt when there is none.
std::optional<Opnum> operation_named(std::string_view name);
std::optional<Opnum> operation_numbered(std::uint32_t number);

/// The minor version knows the operation. One that minor version 1 has taken over without use
/// (SETCLIENTID ...; RFC 8881 17) counts as known: its answer is NFS4ERR_NOTSUPP, not OP_ILLEGAL.
bool is_defined(Opnum operation, std::uint32_t minorversion);

/// Calls `visit(Signature<Args, Result>{})` with the types of `operation` and returns what it
/// returns. OP_ILLEGAL, and a number without an operation, take nothing and give a status.
template <class Visit>
constexpr decltype(auto) with_signature(Opnum operation, Visit&& visit) {
  switch (operation) {
    case Opnum::OP_ACCESS:
      return visit(Signature<AccessArgs, AccessResult>{});
    case Opnum::OP_CLOSE:
      return visit(Signature<CloseArgs, CloseResult>{});
    case Opnum::OP_COMMIT:
      return visit(Signature<CommitArgs, CommitResult>{});
    case Opnum::OP_CREATE:
      return visit(Signature<CreateArgs, CreateResult>{});
    case Opnum::OP_DELEGPURGE:
      return visit(Signature<DelegpurgeArgs, DelegpurgeResult>{});
    case Opnum::OP_DELEGRETURN:
      return visit(Signature<DelegreturnArgs, DelegreturnResult>{});
    case Opnum::OP_GETATTR:
      return visit(Signature<GetattrArgs, GetattrResult>{});
    case Opnum::OP_GETFH:
      return visit(Signature<Void, GetfhResult>{});
    case Opnum::OP_LINK:
      return visit(Signature<LinkArgs, LinkResult>{});
    case Opnum::OP_LOCK:
      return visit(Signature<LockArgs, LockResult>{});
    case Opnum::OP_LOCKT:
      return visit(Signature<LocktArgs, LocktResult>{});
    case Opnum::OP_LOCKU:
      return visit(Signature<LockuArgs, LockuResult>{});
    case Opnum::OP_LOOKUP:
      return visit(Signature<LookupArgs, LookupResult>{});
    case Opnum::OP_LOOKUPP:
      return visit(Signature<Void, LookuppResult>{});
    case Opnum::OP_NVERIFY:
      return visit(Signature<NverifyArgs, NverifyResult>{});
    case Opnum::OP_OPEN:
      return visit(Signature<OpenArgs, OpenResult>{});
    case Opnum::OP_OPENATTR:
      return visit(Signature<OpenattrArgs, OpenattrResult>{});
    case Opnum::OP_OPEN_CONFIRM:
      return visit(Signature<OpenConfirmArgs, OpenConfirmResult>{});
    case Opnum::OP_OPEN_DOWNGRADE:
      return visit(Signature<OpenDowngradeArgs, OpenDowngradeResult>{});
    case Opnum::OP_PUTFH:
      return visit(Signature<PutfhArgs, PutfhResult>{});
    case Opnum::OP_PUTPUBFH:
      return visit(Signature<Void, PutpubfhResult>{});
    case Opnum::OP_PUTROOTFH:
      return visit(Signature<Void, PutrootfhResult>{});
    case Opnum::OP_READ:
      return visit(Signature<ReadArgs, ReadResult>{});
    case Opnum::OP_READDIR:
      return visit(Signature<ReaddirArgs, ReaddirResult>{});
    case Opnum::OP_READLINK:
      return visit(Signature<Void, ReadlinkResult>{});
    case Opnum::OP_REMOVE:
      return visit(Signature<RemoveArgs, RemoveResult>{});
    case Opnum::OP_RENAME:
      return visit(Signature<RenameArgs, RenameResult>{});
    case Opnum::OP_RENEW:
      return visit(Signature<RenewArgs, RenewResult>{});
    case Opnum::OP_RESTOREFH:
      return visit(Signature<Void, RestorefhResult>{});
    case Opnum::OP_SAVEFH:
      return visit(Signature<Void, SavefhResult>{});
    case Opnum::OP_SECINFO:
      return visit(Signature<SecinfoArgs, SecinfoResult>{});
    case Opnum::OP_SETATTR:
      return visit(Signature<SetattrArgs, SetattrResult>{});
    case Opnum::OP_SETCLIENTID:
      return visit(Signature<SetclientidArgs, SetclientidResult>{});
    case Opnum::OP_SETCLIENTID_CONFIRM:
      return visit(Signature<SetclientidConfirmArgs, SetclientidConfirmResult>{});
    case Opnum::OP_VERIFY:
      return visit(Signature<VerifyArgs, VerifyResult>{});
    case Opnum::OP_WRITE:
      return visit(Signature<WriteArgs, WriteResult>{});
    case Opnum::OP_RELEASE_LOCKOWNER:
      return visit(Signature<ReleaseLockownerArgs, ReleaseLockownerResult>{});
    case Opnum::OP_BACKCHANNEL_CTL:
      return visit(Signature<BackchannelCtlArgs, BackchannelCtlResult>{});
    case Opnum::OP_BIND_CONN_TO_SESSION:
      return visit(Signature<BindConnToSessionArgs, BindConnToSessionResult>{});
    case Opnum::OP_EXCHANGE_ID:
      return visit(Signature<ExchangeIdArgs, ExchangeIdResult>{});
    case Opnum::OP_CREATE_SESSION:
      return visit(Signature<CreateSessionArgs, CreateSessionResult>{});
    case Opnum::OP_DESTROY_SESSION:
      return visit(Signature<DestroySessionArgs, DestroySessionResult>{});
    case Opnum::OP_FREE_STATEID:
      return visit(Signature<FreeStateidArgs, FreeStateidResult>{});
    case Opnum::OP_GET_DIR_DELEGATION:
      return visit(Signature<GetDirDelegationArgs, GetDirDelegationResult>{});
    case Opnum::OP_GETDEVICEINFO:
      return visit(Signature<GetdeviceinfoArgs, GetdeviceinfoResult>{});
    case Opnum::OP_GETDEVICELIST:
      return visit(Signature<GetdevicelistArgs, GetdevicelistResult>{});
    case Opnum::OP_LAYOUTCOMMIT:
      return visit(Signature<LayoutcommitArgs, LayoutcommitResult>{});
    case Opnum::OP_LAYOUTGET:
      return visit(Signature<LayoutgetArgs, LayoutgetResult>{});
    case Opnum::OP_LAYOUTRETURN:
      return visit(Signature<LayoutreturnArgs, LayoutreturnResult>{});
    case Opnum::OP_SECINFO_NO_NAME:
      return visit(Signature<SecinfoNoNameArgs, SecinfoNoNameResult>{});
    case Opnum::OP_SEQUENCE:
      return visit(Signature<SequenceArgs, SequenceResult>{});
    case Opnum::OP_SET_SSV:
      return visit(Signature<SetSsvArgs, SetSsvResult>{});
    case Opnum::OP_TEST_STATEID:
      return visit(Signature<TestStateidArgs, TestStateidResult>{});
    case Opnum::OP_WANT_DELEGATION:
      return visit(Signature<WantDelegationArgs, WantDelegationResult>{});
    case Opnum::OP_DESTROY_CLIENTID:
      return visit(Signature<DestroyClientidArgs, DestroyClientidResult>{});
    case Opnum::OP_RECLAIM_COMPLETE:
      return visit(Signature<ReclaimCompleteArgs, ReclaimCompleteResult>{});
    case Opnum::OP_ILLEGAL:
      break;
  }
  return visit(Signature<Void, Result<Void>>{});
}

}  // namespace steertag::nfs4
