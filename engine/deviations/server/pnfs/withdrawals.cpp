// Deviations in recalls of all layouts, and in devices that are replaced.
// RFC 8881 12.2.10 and 12.5.5.2.1.5.
#include "deviations/families.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/session_ops.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

/// Whether it is CB_SEQUENCE with CB_NOTIFY_DEVICEID behind it.
bool is_device_notice(View message) {
  wire::Reader reader(message);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.procedure != nfs4::CB_COMPOUND) return false;
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  if (operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE) return false;
  nfs4::CbSequenceArgs sequence;
  sequence.decode(reader);
  return operations.next() == nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID;
}

constexpr Deviation kWithdrawals[] = {
    {.name = "bulk-recall-beside-another",
     .breaks = {"RFC8881-12.5.5.2.1.5-1"},
     .sentence = "A recall of all layouts does not wait until another one is over.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.bulk_waits = false; }},
     .script_shows = false},
    {.name = "bulk-recall-layoutget-granted",
     .breaks = {"RFC8881-12.5.5.2.1.5-3"},
     .sentence = "LAYOUTGET is granted while all layouts are recalled.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.bulk_refuses_layoutget = false;
                    }},
     .script_shows = false},
    {.name = "bulk-recall-file-returned",
     .breaks = {"RFC8881-12.5.5.2.1.5-3"},
     .sentence = "LAYOUTRETURN of a file is taken while all layouts are recalled.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.bulk_refuses_file_return = false;
                    }},
     .script_shows = false},
    {.name = "bulk-recall-other-returned",
     .breaks = {"RFC8881-12.5.5.2.1.5-3"},
     .sentence = "LAYOUTRETURN of another type than the recall's is taken while all layouts are "
                 "recalled.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.pnfs_policy.bulk_refuses_other_return = false;
                    }},
     .script_shows = false},
    {.name = "device-notice-missing",
     .breaks = {"RFC8881-12.2.10-2"},
     .sentence = "No CB_NOTIFY_DEVICEID is sent.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable& /*sessions*/) {
                      if (is_device_notice(callback.message)) callback.withheld = true;
                    }},
     .script_shows = false},
    {.name = "device-notice-unasked",
     .breaks = {"RFC8881-12.2.10-2"},
     .sentence = "Clients hear of their devices whether they have asked or not.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.tells_who_asked = false; }},
     .script_shows = false},
    {.name = "device-change-unsaid",
     .breaks = {"RFC8881-12.2.10-4"},
     .sentence = "A data server moves, and no client is called for it.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.tells_of_moves = false; }},
     .script_shows = false},
    {.name = "device-id-kept",
     .breaks = {"RFC8881-12.2.10-1"},
     .sentence = "A device that is replaced leaves its ID to the next one.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.replaces_device_id = false; }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> withdrawals_family() {
  return kWithdrawals;
}

}  // namespace steertag::deviations
