// CB_SEQUENCE, and CB_RECALL, CB_LAYOUTRECALL or CB_NOTIFY_DEVICEID.
#include "server/v4/state/recall_message.h"

#include "nfs/v4/compound.h"
#include "nfs/v4/device_notification.h"
#include "rpc/message.h"
#include "wire/encoded.h"

namespace steertag::peer {
namespace {

using Operations = nfs4::CallWriter<nfs4::CbOpnum>;
using ReferringCalls = std::vector<nfs4::ReferringCallList>;

/// The request that granted the state last, as long as its client may not have seen the reply. That
/// is until its slot is used again (RFC 8881 2.10.6.3).
ReferringCalls referring_calls(StateTables& tables, const RecallableState& state) {
  const Session* session = tables.find_session(state.granting_session);
  if (!session || state.granting_sequence == 0 ||
      session->slots[state.granting_slot].sequence != state.granting_sequence)
    return {};
  nfs4::ReferringCallList list;
  list.rcl_sessionid = session->id;
  list.rcl_referring_calls.push_back({state.granting_sequence, state.granting_slot});
  return {list};
}

/// Of all that the client has of the file. The layout itself does not change: data may still go to
/// the data servers before it is returned.
nfs4::CbLayoutrecallArgs recall_of_file(const nfs4::StateId& stateid, const Handle& file) {
  nfs4::CbLayoutrecallArgs recall;
  recall.clora_recall.lor_recalltype = nfs4::LayoutrecallType::LAYOUTRECALL4_FILE;
  nfs4::LayoutrecallFile& scope = recall.clora_recall.lor_layout;
  scope.lor_fh.assign(file);
  scope.lor_length = ~std::uint64_t{0};
  scope.lor_stateid = stateid;
  return recall;
}

nfs4::CbLayoutrecallArgs bulk_recall(const BulkRecall& bulk) {
  nfs4::CbLayoutrecallArgs recall;
  recall.clora_changed = bulk.changed;
  recall.clora_recall.lor_recalltype = bulk.type;
  recall.clora_recall.lor_fsid = bulk.fsid;
  return recall;
}

void add_notice(Operations& operations, const DeviceNotice& notice) {
  constexpr auto kFiles = nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES;
  // Another address takes the place of one that nothing answers at any more.
  const Bytes values = notice.type == nfs4::NOTIFY_DEVICEID4_CHANGE
                           ? wire::encoded(nfs4::NotifyDeviceidChange{kFiles, notice.device, true})
                           : wire::encoded(nfs4::NotifyDeviceidDelete{kFiles, notice.device});
  nfs4::CbNotifyDeviceidArgs args;
  args.cnda_changes.push_back({nfs4::Bitmap::of({notice.type}), values});
  operations.add(nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID, args);
}

/// CB_SEQUENCE, and what `add` puts behind it.
template <class Add>
Bytes compound(const Session& session, std::uint32_t number, ReferringCalls referring, Add add) {
  nfs4::CbSequenceArgs sequence;
  sequence.csa_sessionid = session.id;
  sequence.csa_sequenceid = session.back_slots[number].sequence + 1;
  sequence.csa_slotid = number;
  for (std::uint32_t each = 0; each < session.back_slots.size(); ++each) {
    if (session.back_slots[each].calling || each == number) sequence.csa_highest_slotid = each;
  }
  sequence.csa_referring_call_lists = std::move(referring);
  Bytes message = callback_header(session, nfs4::CB_COMPOUND);
  wire::Writer writer(message);
  nfs4::CbCompoundArgs{"", 1, 0}.encode(writer);
  Operations operations(message);
  operations.add(nfs4::CbOpnum::OP_CB_SEQUENCE, sequence);
  add(operations);
  return message;
}

void add_delegation_recall(Operations& operations, const nfs4::StateId& stateid,
                           const Handle& file) {
  nfs4::CbRecallArgs recall;
  recall.stateid = stateid;
  recall.fh.assign(file);
  operations.add(nfs4::CbOpnum::OP_CB_RECALL, recall);
}

}  // namespace

Bytes callback_header(const Session& session, std::uint32_t procedure) {
  rpc::CallHeader header;
  header.program = session.cb_program;
  header.version = nfs4::kCallbackVersion;
  header.procedure = procedure;
  header.credential.flavor = session.credential_flavor;
  header.credential.body = session.credential;
  Bytes message;
  wire::Writer writer(message);
  header.encode(writer);
  return message;
}

Bytes recall_message(StateTables& tables, const Session& session, std::uint32_t number,
                     const RecallableState& state) {
  const nfs4::StateId stateid = tables.stateid(*session.client, state.number, state.seqid);
  return compound(session, number, referring_calls(tables, state), [&](Operations& operations) {
    if (state.callback == nfs4::CbOpnum::OP_CB_RECALL) {
      add_delegation_recall(operations, stateid, state.file->handle);
    } else if (state.callback == nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID) {
      add_notice(operations, static_cast<const DeviceNotice&>(state));
    } else {
      operations.add(state.callback, state.file
                                         ? recall_of_file(stateid, state.file->handle)
                                         : bulk_recall(static_cast<const BulkRecall&>(state)));
    }
  });
}

std::size_t most_recall_octets(const Session& session, nfs4::CbOpnum callback) {
  nfs4::ReferringCallList list;
  list.rcl_referring_calls.emplace_back();
  const auto message = compound(session, 0, {list}, [&](Operations& operations) {
    if (callback == nfs4::CbOpnum::OP_CB_RECALL) {
      add_delegation_recall(operations, {}, {});
    } else if (callback == nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID) {
      DeviceNotice longest;
      longest.type = nfs4::NOTIFY_DEVICEID4_CHANGE;
      add_notice(operations, longest);
    } else {
      operations.add(callback, recall_of_file({}, {}));
    }
  });
  return message.size();
}

}  // namespace steertag::peer
