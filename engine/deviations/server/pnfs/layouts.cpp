// Deviations in LAYOUTGET, LAYOUTCOMMIT and LAYOUTRETURN (RFC 8881 12.5, 18.42 to 18.44).
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/client_ops.h"
#include "nfs/v4/file_handle_ops.h"
#include "nfs/v4/layout_ops.h"
#include "nfs/v4/session_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::LayoutIomode;
using nfs4::LayoutType;
using nfs4::Opnum;
using nfs4::Status;
using peer::ServerOptions;

constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
constexpr std::uint64_t kShortRange = 1;  // octets
constexpr std::int64_t kHour = 3600;      // s

template <class Change>
void change_layout_wish(peer::CallStep& call, Change change) {
  change_arguments<nfs4::LayoutgetArgs>(call, Opnum::OP_LAYOUTGET, change);
}

/// `change(LayoutgetOk&)` of a LAYOUTGET that granted a layout.
template <class Change>
void change_grant(peer::ReplyStep& reply, Change change) {
  change_result<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET, [&](auto& result) {
    if (result.status == Status::NFS4_OK && !result.resok4.logr_layout.empty())
      change(result.resok4);
  });
}

/// The operation fails with `to` in place of `from`.
template <class Result>
void change_status(peer::ReplyStep& reply, Opnum number, Status from, Status to) {
  change_result<Result>(reply, number, [&](Result& result) {
    if (result.status == from) result.status = to;
  });
}

void exchange_seqids(peer::ReplyStep& reply) {
  const auto got = result_of<nfs4::LayoutgetResult>(reply.reply.stream(), Opnum::OP_LAYOUTGET);
  const auto back =
      result_of<nfs4::LayoutreturnResult>(reply.reply.stream(), Opnum::OP_LAYOUTRETURN);
  if (!got || got->status != Status::NFS4_OK || !back || !back->resok4.lrs_present) return;
  const std::uint32_t of_get = got->resok4.logr_stateid.seqid;
  const std::uint32_t of_return = back->resok4.lrs_stateid.seqid;
  change_grant(reply, [&](nfs4::LayoutgetOk& ok) { ok.logr_stateid.seqid = of_return; });
  change_result<nfs4::LayoutreturnResult>(reply, Opnum::OP_LAYOUTRETURN, [&](auto& result) {
    result.resok4.lrs_stateid.seqid = of_get;
  });
}

/// In the suite a layout has seqid 1 until it is recalled.
void take_seqid_for_answer(peer::ReplyStep& reply) {
  const auto asked = arguments_of<nfs4::LayoutgetArgs>(reply.call, Opnum::OP_LAYOUTGET);
  if (!asked || asked->loga_stateid.seqid < 2) return;
  change_status<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET, Status::NFS4ERR_RECALLCONFLICT,
                                       Status::NFS4ERR_RETURNCONFLICT);
}

constexpr Deviation kLayouts[] = {
    {.name = "metadata-server-role-mixed",
     .breaks = {"RFC8881-13.1-2"},
     .sentence = "EXCHANGE_ID returns both EXCHGID4_FLAG_USE_PNFS_MDS and _NON_PNFS.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::ExchangeIdResult>(
                          reply, Opnum::OP_EXCHANGE_ID, [](auto& result) {
                            result.resok4.eir_flags |= nfs4::EXCHGID4_FLAG_USE_NON_PNFS;
                          });
                    }},
     .script_shows = false},
    {.name = "layout-type-wrong",
     .breaks = {"RFC8881-12.2.7-1"},
     .sentence = "A layout has type LAYOUT4_BLOCK_VOLUME whatever was asked for.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) {
                        ok.logr_layout.front().lo_content.loc_type =
                            LayoutType::LAYOUT4_BLOCK_VOLUME;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-type-unchecked",
     .breaks = {"RFC8881-18.43.3-4", "RFC8881-3.3.13-1"},
     .sentence = "LAYOUTGET grants a layout of files whatever type was asked for.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_layout_wish(call, [](nfs4::LayoutgetArgs& args) {
                        args.loga_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-iomode-unchecked",
     .breaks = {"RFC8881-18.43.3-4"},
     .sentence = "LAYOUTGET with LAYOUTIOMODE4_ANY gets a layout for reading.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_layout_wish(call, [](nfs4::LayoutgetArgs& args) {
                        if (args.loga_iomode != LayoutIomode::LAYOUTIOMODE4_RW)
                          args.loga_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-maxcount-ignored",
     .breaks = {"RFC8881-18.43.3-4"},
     .sentence = "LAYOUTGET gives a layout larger than loga_maxcount.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_layout_wish(call, [](nfs4::LayoutgetArgs& args) {
                        args.loga_maxcount = std::max(args.loga_maxcount, 4096U);
                      });
                    }},
     .script_shows = false},
    {.name = "layout-range-unchecked",
     .breaks = {"RFC8881-18.43.3-1"},
     .sentence = "LAYOUTGET takes any loga_length and loga_minlength.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_layout_wish(call, [](nfs4::LayoutgetArgs& args) {
                        args.loga_length = kToTheEnd;
                        args.loga_minlength = 0;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-range-short",
     .breaks = {"RFC8881-18.43.3-2"},
     .sentence = "LAYOUTGET grants one octet of the file.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) {
                        ok.logr_layout.front().lo_length = kShortRange;
                      });
                    }},
     .script_shows = false},
    {.name = "layouts-overlap",
     .breaks = {"RFC8881-18.43.3-3"},
     .sentence = "LAYOUTGET gives the same layout twice.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) {
                        ok.logr_layout.push_back(nfs4::Layout(ok.logr_layout.front()));
                      });
                    }},
     .script_shows = false},
    {.name = "layout-iomode-lowered",
     .breaks = {"RFC8881-18.43.3-3"},
     .sentence = "LAYOUTGET gives layouts for reading only.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) {
                        ok.logr_layout.front().lo_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
                      });
                    }},
     .script_shows = false},
    {.name = "layout-seqid-zero",
     .breaks = {"RFC8881-12.5.2-3"},
     .sentence = "The seqid of layout stateids is one too low.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) { --ok.logr_stateid.seqid; });
                    }},
     .script_shows = false},
    {.name = "layout-seqid-kept",
     .breaks = {"RFC8881-12.5.3-1"},
     .sentence = "Every LAYOUTGET gives a stateid of seqid 1.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply, [](nfs4::LayoutgetOk& ok) { ok.logr_stateid.seqid = 1; });
                    }},
     .script_shows = false},
    {.name = "layoutget-stateid-unchecked",
     .breaks = {"RFC8881-12.5.2-2"},
     .sentence = "LAYOUTGET takes the open stateid of another file.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.checks_layoutget = false; }},
     .script_shows = false},
    {.name = "layout-operations-reordered",
     .breaks = {"RFC8881-12.5.5.2.1.1-1"},
     .sentence = "LAYOUTRETURN and LAYOUTGET of one COMPOUND have each other's seqid.",
     .server = {.reply = exchange_seqids},
     .script_shows = false},
    {.name = "layout-seqid-wraps-to-zero",
     .breaks = {"RFC8881-12.5.5.2.1.4-1"},
     .sentence = "Behind layout seqid 0xffffffff comes 0.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.skips_seqid_zero = false; }},
     .script_shows = false},
    {.name = "layout-seqid-old-refused",
     .breaks = {"RFC8881-12.5.5.2.1.4-2"},
     .sentence = "A layout seqid that is more than one behind gets NFS4ERR_OLD_STATEID.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.takes_old_seqids = false; }},
     .script_shows = false},
    {.name = "layout-seqid-past-bad",
     .breaks = {"RFC8881-12.5.5.2.1.4-2"},
     .sentence = "LAYOUTGET with a seqid of the past gets NFS4ERR_BAD_STATEID.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET,
                                                           Status::NFS4ERR_OLD_STATEID,
                                                           Status::NFS4ERR_BAD_STATEID);
                    }},
     .script_shows = false},
    {.name = "returned-layout-old",
     .breaks = {"RFC8881-12.5.3-5"},
     .sentence = "The stateid of returned layouts gets NFS4ERR_OLD_STATEID.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET,
                                                           Status::NFS4ERR_BAD_STATEID,
                                                           Status::NFS4ERR_OLD_STATEID);
                      change_status<nfs4::LayoutreturnResult>(reply, Opnum::OP_LAYOUTRETURN,
                                                              Status::NFS4ERR_BAD_STATEID,
                                                              Status::NFS4ERR_OLD_STATEID);
                      change_status<nfs4::LayoutcommitResult>(reply, Opnum::OP_LAYOUTCOMMIT,
                                                              Status::NFS4ERR_BADLAYOUT,
                                                              Status::NFS4ERR_OLD_STATEID);
                    }},
     .script_shows = false},
    {.name = "layout-seqid-zero-taken",
     .breaks = {"RFC8881-12.5.5.2.1.4-3"},
     .sentence = "LAYOUTGET, LAYOUTCOMMIT and LAYOUTRETURN take seqid 0 for the first one.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      const auto first = [](nfs4::StateId& stateid) {
                        if (stateid.seqid == 0) stateid.seqid = 1;
                      };
                      change_layout_wish(
                          call, [&](nfs4::LayoutgetArgs& args) { first(args.loga_stateid); });
                      change_arguments<nfs4::LayoutcommitArgs>(
                          call, Opnum::OP_LAYOUTCOMMIT,
                          [&](auto& args) { first(args.loca_stateid); });
                      change_arguments<nfs4::LayoutreturnArgs>(
                          call, Opnum::OP_LAYOUTRETURN,
                          [&](auto& args) { first(args.lora_layoutreturn.lr_layout.lrf_stateid); });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-truncates",
     .breaks = {"RFC8881-12.5.4.2-1"},
     .sentence = "LAYOUTCOMMIT truncates the file behind loca_last_write_offset.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.commit_keeps_size = false; }},
     .script_shows = false},
    {.name = "layoutcommit-time-back",
     .breaks = {"RFC8881-12.5.4.1-1"},
     .sentence = "LAYOUTCOMMIT sets time_modify back.",
     .server = {.options =
                    [](ServerOptions& options) { options.pnfs_policy.commit_keeps_time = false; }},
     .script_shows = false},
    {.name = "layoutcommit-time-ahead",
     .breaks = {"RFC8881-12.5.4.1-1"},
     .sentence = "LAYOUTCOMMIT sets a time_modify one hour behind the suggested one.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutcommitArgs>(
                          call, Opnum::OP_LAYOUTCOMMIT, [](auto& args) {
                            if (args.loca_time_modify.nt_timechanged)
                              args.loca_time_modify.nt_time.seconds += kHour;
                          });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-ignored",
     .breaks = {"RFC8881-12.5.4-2"},
     .sentence = "What data servers took is not in the file, and LAYOUTCOMMIT leaves it as it is.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.writes = false; },
                .call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutcommitArgs>(
                          call, Opnum::OP_LAYOUTCOMMIT,
                          [](auto& args) { args.loca_last_write_offset = {}; });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-size-unsaid",
     .breaks = {"RFC8881-12.5.4.2-2"},
     .sentence = "LAYOUTCOMMIT does not say that it set the size.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::LayoutcommitResult>(
                          reply, Opnum::OP_LAYOUTCOMMIT,
                          [](auto& result) { result.resok4.locr_newsize = {}; });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-size-repeated",
     .breaks = {"RFC8881-12.5.4.2-2"},
     .sentence = "LAYOUTCOMMIT says that it set the size when the size stays.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::LayoutcommitResult>(
                          reply, Opnum::OP_LAYOUTCOMMIT,
                          [](auto& result) { result.resok4.locr_newsize.ns_sizechanged = true; });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-iomode-invalid",
     .breaks = {"RFC8881-18.42.3-1"},
     .sentence = "LAYOUTCOMMIT with a layout for reading gets NFS4ERR_INVAL.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutcommitResult>(reply, Opnum::OP_LAYOUTCOMMIT,
                                                              Status::NFS4ERR_BADIOMODE,
                                                              Status::NFS4ERR_INVAL);
                    }},
     .script_shows = false},
    {.name = "layoutcommit-reclaim-taken",
     .breaks = {"RFC8881-18.42.3-2"},
     .sentence = "LAYOUTCOMMIT ignores loca_reclaim.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutcommitArgs>(
                          call, Opnum::OP_LAYOUTCOMMIT,
                          [](auto& args) { args.loca_reclaim = false; });
                    }},
     .script_shows = false},
    {.name = "layoutcommit-reclaim-refused",
     .breaks = {"RFC8881-12.7.4-2"},
     .sentence = "LAYOUTCOMMIT with loca_reclaim gets NFS4ERR_NO_GRACE in the grace period too.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      const auto asked =
                          arguments_of<nfs4::LayoutcommitArgs>(reply.call, Opnum::OP_LAYOUTCOMMIT);
                      if (!asked || !asked->loca_reclaim) return;
                      change_status<nfs4::LayoutcommitResult>(
                          reply, Opnum::OP_LAYOUTCOMMIT, Status::NFS4_OK, Status::NFS4ERR_NO_GRACE);
                    }},
     .script_shows = false},
    {.name = "layoutget-in-grace",
     .breaks = {"RFC8881-18.43.3-4"},
     .sentence = "LAYOUTGET is granted in the grace period, though a restart ends all layouts.",
     .server = {.options = [](ServerOptions&
                                  options) { options.pnfs_policy.layoutget_awaits_grace = false; }},
     .script_shows = false},
    {.name = "layoutreturn-leaves-stateid",
     .breaks = {"RFC8881-18.44.3-1"},
     .sentence = "The LAYOUTRETURN of the last layout gives a stateid.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::LayoutreturnResult>(
                          reply, Opnum::OP_LAYOUTRETURN,
                          [](auto& result) { result.resok4.lrs_present = true; });
                    }},
     .script_shows = false},
    {.name = "layoutreturn-current-stateid-kept",
     .breaks = {"RFC8881-18.44.3-1"},
     .sentence = "The LAYOUTRETURN of the last layout leaves the current stateid as it was.",
     .server =
         {.options =
              [](ServerOptions& options) { options.pnfs_policy.last_return_ends_stateid = false; }},
     .script_shows = false},
    {.name = "layoutreturn-parts-end-recall",
     .breaks = {"RFC8881-18.44.3-1"},
     .sentence = "LAYOUTRETURNs of all parts end the recall of the file, and give no stateid.",
     .server = {.options = [](ServerOptions&
                                  options) { options.pnfs_policy.recall_awaits_scope = false; }},
     .script_shows = false},
    {.name = "layoutreturn-late-reclaim-taken",
     .breaks = {"RFC8881-18.44.3-5"},
     .sentence = "LAYOUTRETURN of a file with lora_reclaim gets NFS4_OK outside of a grace period.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutreturnResult>(
                          reply, Opnum::OP_LAYOUTRETURN, Status::NFS4ERR_NO_GRACE, Status::NFS4_OK);
                    }},
     .script_shows = false},
    {.name = "layoutreturn-reclaim-taken",
     .breaks = {"RFC8881-18.44.3-2"},
     .sentence = "LAYOUTRETURN ignores lora_reclaim.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutreturnArgs>(
                          call, Opnum::OP_LAYOUTRETURN,
                          [](auto& args) { args.lora_reclaim = false; });
                    }},
     .script_shows = false},
    {.name = "layoutreturn-bulk-ignored",
     .breaks = {"RFC8881-12.5.1-3"},
     .sentence = "LAYOUTRETURN4_FSID and LAYOUTRETURN4_ALL return nothing.",
     .server = {.options = [](ServerOptions& options) { options.pnfs_policy.returns_all = false; }},
     .script_shows = false},
    {.name = "layout-ends-at-close-unsaid",
     .breaks = {"RFC8881-12.5.2-5"},
     .sentence = "CLOSE returns layouts, and logr_return_on_close is FALSE.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_grant(reply,
                                   [](nfs4::LayoutgetOk& ok) { ok.logr_return_on_close = false; });
                    }},
     .script_shows = false},
    {.name = "layoutreturn-takes-whole-file",
     .breaks = {"RFC8881-18.44.3-4"},
     .sentence = "LAYOUTRETURN of a part returns all layouts of the file.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutreturnArgs>(
                          call, Opnum::OP_LAYOUTRETURN, [](auto& args) {
                            args.lora_iomode = LayoutIomode::LAYOUTIOMODE4_ANY;
                            args.lora_layoutreturn.lr_layout.lrf_offset = 0;
                            args.lora_layoutreturn.lr_layout.lrf_length = kToTheEnd;
                          });
                    }},
     .script_shows = false},
    {.name = "layoutreturn-part-kept",
     .breaks = {"RFC8881-12.5.1-3"},
     .sentence = "LAYOUTRETURN of a range in the file returns nothing of a layout for writing.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_arguments<nfs4::LayoutreturnArgs>(
                          call, Opnum::OP_LAYOUTRETURN, [](auto& args) {
                            const auto& scope = args.lora_layoutreturn;
                            if (scope.lr_returntype == nfs4::LayoutreturnType::LAYOUTRETURN4_FILE &&
                                scope.lr_layout.lrf_length != kToTheEnd)
                              args.lora_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
                          });
                    }},
     .script_shows = false},
    {.name = "failed-layoutget-counted",
     .breaks = {"RFC8881-12.5.3-1"},
     .sentence = "A LAYOUTGET that fails moves the seqid on too.",
     .server = {.options = [](ServerOptions&
                                  options) { options.pnfs_policy.counts_grants_alone = false; }},
     .script_shows = false},
    {.name = "layout-without-backchannel",
     .breaks = {"RFC8881-12.5.1-1"},
     .sentence = "LAYOUTGET grants what no backchannel can recall.",
     .server =
         {.options = [](ServerOptions& options) { options.pnfs_policy.needs_backchannel = false; }},
     .script_shows = false},
    {.name = "recall-conflict-later",
     .breaks = {"RFC8881-12.5.5.2.1.3-1"},
     .sentence = "LAYOUTGET during a recall gets NFS4ERR_LAYOUTTRYLATER.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET,
                                                           Status::NFS4ERR_RECALLCONFLICT,
                                                           Status::NFS4ERR_LAYOUTTRYLATER);
                    }},
     .script_shows = false},
    {.name = "recall-seqid-taken-for-answer",
     .breaks = {"RFC8881-12.5.5.2.1.3-1"},
     .sentence =
         "LAYOUTGET with the seqid of a recall gets NFS4ERR_RETURNCONFLICT before its answer.",
     .server = {.reply = take_seqid_for_answer},
     .script_shows = false},
    {.name = "return-conflict-later",
     .breaks = {"RFC8881-12.5.5.2.1.3-2"},
     .sentence = "LAYOUTGET before the return of what was recalled gets NFS4ERR_LAYOUTTRYLATER.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_status<nfs4::LayoutgetResult>(reply, Opnum::OP_LAYOUTGET,
                                                           Status::NFS4ERR_RETURNCONFLICT,
                                                           Status::NFS4ERR_LAYOUTTRYLATER);
                    }},
     .script_shows = false},
    {.name = "secinfo-no-name-missing",
     .breaks = {"RFC8881-13.12-2"},
     .sentence = "SECINFO_NO_NAME gets NFS4ERR_NOTSUPP.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::SecinfoNoNameResult>(
                          reply, Opnum::OP_SECINFO_NO_NAME,
                          [](auto& result) { result.status = Status::NFS4ERR_NOTSUPP; });
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> layouts_family() {
  return kLayouts;
}

}  // namespace steertag::deviations
