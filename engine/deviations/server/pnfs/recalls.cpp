// Deviations in CB_LAYOUTRECALL, and in what a server does until a layout is back.
// RFC 8881 12.5.5, 20.3 and 20.12.
#include "deviations/families.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/device_notification.h"
#include "nfs/v4/session_ops.h"
#include "rpc/message.h"
#include "wire/encoded.h"

namespace steertag::deviations {
namespace {

using nfs4::LayoutType;
using peer::ServerOptions;

constexpr std::uint32_t kNotifyDelete = 2;  // NOTIFY_DEVICEID4_DELETE

/// `change(LayoutrecallFile&)` of a CB_LAYOUTRECALL of a file, and the operations that
/// `add(CallWriter&)` puts behind it. Whether the message is one.
template <class Change, class Add>
bool change_layout_recall(peer::CallbackStep& callback, Change change, Add add) {
  wire::Reader reader(callback.message);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.procedure != nfs4::CB_COMPOUND) return false;
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  const std::size_t fixed = reader.offset();
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  if (operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE) return false;
  nfs4::CbSequenceArgs sequence;
  sequence.decode(reader);
  if (operations.next() != nfs4::CbOpnum::OP_CB_LAYOUTRECALL) return false;
  nfs4::CbLayoutrecallArgs recall;
  recall.decode(reader);
  if (!reader.ok()) return false;
  change(recall.clora_recall.lor_layout);
  Bytes message(callback.message.begin(),
                callback.message.begin() + static_cast<std::ptrdiff_t>(fixed));
  nfs4::CallWriter<nfs4::CbOpnum> writer(message);
  writer.add(nfs4::CbOpnum::OP_CB_SEQUENCE, sequence);
  writer.add(nfs4::CbOpnum::OP_CB_LAYOUTRECALL, recall);
  add(writer);
  callback.message = std::move(message);
  return true;
}

template <class Change>
bool change_layout_recall(peer::CallbackStep& callback, Change change) {
  return change_layout_recall(callback, change, [](auto& /*writer*/) {});
}

/// NOTIFY_DEVICEID4_DELETE of the device that some client has asked for last, behind the recall.
void delete_device(peer::CallbackStep& callback, SessionTable& sessions) {
  if (!sessions.device) return;
  const Bytes values = wire::encoded(
      nfs4::NotifyDeviceidDelete{LayoutType::LAYOUT4_NFSV4_1_FILES, *sessions.device});
  nfs4::CbNotifyDeviceidArgs args;
  args.cnda_changes.push_back({nfs4::Bitmap::of({kNotifyDelete}), values});
  change_layout_recall(
      callback, [](auto& /*scope*/) {},
      [&](auto& writer) { writer.add(nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID, args); });
}

constexpr Deviation kRecalls[] = {
    {.name = "layout-recall-missing",
     .breaks = {"RFC8881-12.5.5-1"},
     .sentence = "No CB_LAYOUTRECALL is sent.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable& /*sessions*/) {
                      if (change_layout_recall(callback, [](auto& /*scope*/) {}))
                        callback.withheld = true;
                    }},
     .script_shows = false},
    {.name = "layout-recall-seqid-zero",
     .breaks = {"RFC8881-20.3.3-3"},
     .sentence = "CB_LAYOUTRECALL has a stateid of seqid 0.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable& /*sessions*/) {
                      change_layout_recall(callback, [](nfs4::LayoutrecallFile& scope) {
                        scope.lor_stateid.seqid = 0;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-fenced-at-recall",
     .breaks = {"RFC8881-12.5.5-4"},
     .sentence = "Data servers refuse I/O by a layout as soon as it is recalled.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.patience = 0; }},
     .script_shows = false},
    {.name = "layout-fenced-after-half-a-lease",
     .breaks = {"RFC8881-12.5.5-4"},
     .sentence = "Data servers refuse I/O by a layout half a lease after its recall.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.patience = 0.5; }},
     .script_shows = false,
     .argument = "--lease=5"},
    {.name = "layout-fenced-unanswered",
     .breaks = {"RFC8881-12.5.5-4"},
     .sentence = "Data servers refuse I/O while a CB_LAYOUTRECALL has no answer.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.spares_silent = false; }},
     .script_shows = false,
     .argument = "--lease=5"},
    {.name = "closed-layout-not-recalled",
     .breaks = {"RFC8881-18.43.3-5"},
     .sentence =
         "A layout outlives the last CLOSE in spite of logr_return_on_close. No recall comes.",
     .server = {
         .options =
             [](ServerOptions& options) { options.pnfs_policy.layouts_end_at_close = false; },
         .callback =
             [](peer::CallbackStep& callback, SessionTable& /*sessions*/) {
               if (change_layout_recall(callback, [](auto& /*scope*/) {})) callback.withheld = true;
             }},
     .script_shows = false},
    {.name = "device-deleted-in-use",
     .breaks = {"RFC8881-20.12.3-1"},
     .sentence = "NOTIFY_DEVICEID4_DELETE of the layout's device is behind each CB_LAYOUTRECALL.",
     .server = {.callback = delete_device},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> recalls_family() {
  return kRecalls;
}

}  // namespace steertag::deviations
