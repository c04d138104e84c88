// Deviations of the client: what it does with CB_LAYOUTRECALL and CB_NOTIFY_DEVICEID.
// RFC 8881 12.5.5, 20.3, 20.12.
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/layout_ops.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

void return_one_octet(peer::RequestStep& step, ClientHistory& /*history*/) {
  change_request<nfs4::LayoutreturnArgs>(step, nfs4::Opnum::OP_LAYOUTRETURN, [](auto& args) {
    args.lora_layoutreturn.lr_layout.lrf_length = 1;
  });
}

void withhold_recall(peer::AnswerStep& step, ClientHistory& /*history*/) {
  wire::Reader reader(step.payload);
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  if (operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE) return;
  nfs4::CbSequenceArgs sequence;
  sequence.decode(reader);
  step.withheld = reader.ok() && operations.next() == nfs4::CbOpnum::OP_CB_LAYOUTRECALL;
}

constexpr Deviation kLayoutRecalls[] = {
    {.name = "layout-recall-unanswered",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.2.1.2-1"},
     .sentence = "CB_LAYOUTRECALL gets no answer.",
     .client = {.answer = withhold_recall}},
    {.name = "layout-returned-early",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.1-1"},
     .sentence = "LAYOUTRETURN overtakes READs and WRITEs at data servers.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.waits_for_io = false;
                    }}},
    {.name = "layout-used-behind-return",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5-3"},
     .sentence = "A layout is used after its recall and its return.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.stops_at_return = false;
                      options.session.layouts.waits_for_io = false;
                    }}},
    {.name = "layout-used-behind-recall",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.3.3-2"},
     .sentence = "A recalled layout is used until all data servers have answered.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.stops_at_return = false;
                    }}},
    {.name = "layout-recall-without-return",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.3.3-1"},
     .sentence = "CB_LAYOUTRECALL is answered, and nothing goes back.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.returns_recalled = false;
                    }}},
    {.name = "layout-recall-stateid-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.2.1.2-2", "RFC8881-12.5.3-2"},
     .sentence = "A recalled layout goes back by the stateid from before the recall.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.echoes_recall = false;
                    }}},
    {.name = "layout-return-narrow",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.1-2"},
     .sentence = "LAYOUTRETURN names one octet of the file.",
     .client = {.request = return_one_octet}},
    {.name = "layout-recall-overtakes-layoutget",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.2.1-1", "RFC8881-12.5.5.2.1.5-2"},
     .sentence = "A recall finds no layout before the reply to LAYOUTGET.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.waits_for_layoutget = false;
                    }}},
    {.name = "layout-referral-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.2.1-2"},
     .sentence = "A recall is answered before the LAYOUTGET to which CB_SEQUENCE refers.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.waits_for_layoutget = false;
                      options.session.callbacks.heeds_referrals = false;
                    }}},
    {.name = "layout-recalls-unordered",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.3-3"},
     .sentence = "A recall is processed before that of the seqid below.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.orders_recalls = false;
                    }}},
    {.name = "layout-bulk-by-stateid",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.2.1.5-4"},
     .sentence = "After a bulk recall each file goes back by its layout stateid.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.returns_at_once = false;
                    }}},
    {.name = "layout-missing-taken-for-bad",
     .side = trace::Role::client,
     .breaks = {"RFC8881-12.5.5.1-3"},
     .sentence = "A recall of what is not held gets NFS4ERR_BAD_STATEID.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.layouts.no_layout_status = nfs4::Status::NFS4ERR_BAD_STATEID;
                    }}},
    {.name = "device-change-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.12.3-2"},
     .sentence = "I/O goes to a data server after CB_NOTIFY_DEVICEID has changed its device.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.data_servers.heeds_changes = false;
                    }}},
};

}  // namespace

std::span<const Deviation> layout_recalls_family() {
  return kLayoutRecalls;
}

}  // namespace steertag::deviations
