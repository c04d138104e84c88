// The operations of CB_COMPOUND (RFC 7530 15, RFC 8881 20).
// Number, name, types of arguments and result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nfs/v4/callback_ops.h"
#include "nfs/v4/signature.h"

namespace steertag::nfs4 {

/// nfs_cb_opnum4 of minor versions 0 and 1.
enum class CbOpnum : std::uint32_t {
  OP_CB_GETATTR = 3,
  OP_CB_RECALL = 4,
  OP_CB_LAYOUTRECALL = 5,
  OP_CB_NOTIFY = 6,
  OP_CB_PUSH_DELEG = 7,
  OP_CB_RECALL_ANY = 8,
  OP_CB_RECALLABLE_OBJ_AVAIL = 9,
  OP_CB_RECALL_SLOT = 10,
  OP_CB_SEQUENCE = 11,
  OP_CB_WANTS_CANCELLED = 12,
  OP_CB_NOTIFY_LOCK = 13,
  OP_CB_NOTIFY_DEVICEID = 14,
  OP_CB_ILLEGAL = 10044,
};
/// Names without the prefix: "CB_GETATTR".
inline constexpr rpc::Named<CbOpnum> kCbOpnumNames[] = {
    {CbOpnum::OP_CB_GETATTR, "CB_GETATTR"},
    {CbOpnum::OP_CB_RECALL, "CB_RECALL"},
    {CbOpnum::OP_CB_LAYOUTRECALL, "CB_LAYOUTRECALL"},
    {CbOpnum::OP_CB_NOTIFY, "CB_NOTIFY"},
    {CbOpnum::OP_CB_PUSH_DELEG, "CB_PUSH_DELEG"},
    {CbOpnum::OP_CB_RECALL_ANY, "CB_RECALL_ANY"},
    {CbOpnum::OP_CB_RECALLABLE_OBJ_AVAIL, "CB_RECALLABLE_OBJ_AVAIL"},
    {CbOpnum::OP_CB_RECALL_SLOT, "CB_RECALL_SLOT"},
    {CbOpnum::OP_CB_SEQUENCE, "CB_SEQUENCE"},
    {CbOpnum::OP_CB_WANTS_CANCELLED, "CB_WANTS_CANCELLED"},
    {CbOpnum::OP_CB_NOTIFY_LOCK, "CB_NOTIFY_LOCK"},
    {CbOpnum::OP_CB_NOTIFY_DEVICEID, "CB_NOTIFY_DEVICEID"},
    {CbOpnum::OP_CB_ILLEGAL, "CB_ILLEGAL"},
};
constexpr std::span<const rpc::Named<CbOpnum>> names_of(CbOpnum) {
  return kCbOpnumNames;
}
/// A peer may send any number; the answer to one that is unknown is OP_CB_ILLEGAL, no fault.
constexpr bool is_open(CbOpnum) {
  return true;
}

/// The operation of that name ("CB_RECALL"), and the one of that number; nullopt when there is
/// none.
std::optional<CbOpnum> callback_named(std::string_view name);
std::optional<CbOpnum> callback_numbered(std::uint32_t number);

/// The minor version knows the operation.
bool is_defined(CbOpnum operation, std::uint32_t minorversion);

/// Calls `visit(Signature<Args, Result>{})` with the types of `operation` and returns what it
/// returns. OP_CB_ILLEGAL, and a number without an operation, take nothing and give a status.
template <class Visit>
constexpr decltype(auto) with_signature(CbOpnum operation, Visit&& visit) {
  switch (operation) {
    case CbOpnum::OP_CB_GETATTR:
      return visit(Signature<CbGetattrArgs, CbGetattrResult>{});
    case CbOpnum::OP_CB_RECALL:
      return visit(Signature<CbRecallArgs, Result<Void>>{});
    case CbOpnum::OP_CB_LAYOUTRECALL:
      return visit(Signature<CbLayoutrecallArgs, Result<Void>>{});
    case CbOpnum::OP_CB_NOTIFY:
      return visit(Signature<CbNotifyArgs, Result<Void>>{});
    case CbOpnum::OP_CB_PUSH_DELEG:
      return visit(Signature<CbPushDelegArgs, Result<Void>>{});
    case CbOpnum::OP_CB_RECALL_ANY:
      return visit(Signature<CbRecallAnyArgs, Result<Void>>{});
    case CbOpnum::OP_CB_RECALLABLE_OBJ_AVAIL:
      return visit(Signature<CbRecallableObjAvailArgs, Result<Void>>{});
    case CbOpnum::OP_CB_RECALL_SLOT:
      return visit(Signature<CbRecallSlotArgs, Result<Void>>{});
    case CbOpnum::OP_CB_SEQUENCE:
      return visit(Signature<CbSequenceArgs, CbSequenceResult>{});
    case CbOpnum::OP_CB_WANTS_CANCELLED:
      return visit(Signature<CbWantsCancelledArgs, Result<Void>>{});
    case CbOpnum::OP_CB_NOTIFY_LOCK:
      return visit(Signature<CbNotifyLockArgs, Result<Void>>{});
    case CbOpnum::OP_CB_NOTIFY_DEVICEID:
      return visit(Signature<CbNotifyDeviceidArgs, Result<Void>>{});
    case CbOpnum::OP_CB_ILLEGAL:
      break;
  }
  return visit(Signature<Void, Result<Void>>{});
}

}  // namespace steertag::nfs4
