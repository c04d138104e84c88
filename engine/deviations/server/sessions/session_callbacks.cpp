// Deviations in a session's backchannel and in the recalls over it (RFC 8881 2.10.3, 20).
#include <utility>

#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "deviations/server/recall.h"
#include "nfs/v4/open_ops.h"
#include "nfs/v4/session_ops.h"
#include "server/v4/state/limits.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

constexpr std::uint32_t kRecallOperations = 2;  // CB_SEQUENCE and CB_RECALL

/// `change(CreateSessionArgs&)` of a CREATE_SESSION.
template <class Change>
void change_asked(peer::CallStep& call, Change change) {
  change_arguments<nfs4::CreateSessionArgs>(call, Opnum::OP_CREATE_SESSION, change);
}

/// The server opens a backchannel, and one in which recalls fit.
void ask_for_backchannel(peer::CallStep& call) {
  change_asked(call, [](nfs4::CreateSessionArgs& args) {
    if ((args.csa_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0) return;
    args.csa_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
    nfs4::ChannelAttrs& back = args.csa_back_chan_attrs;
    back.ca_maxrequestsize = std::max(back.ca_maxrequestsize, peer::kSmallestBackchannelSize);
    back.ca_maxresponsesize = std::max(back.ca_maxresponsesize, peer::kSmallestBackchannelSize);
    back.ca_maxoperations = std::max(back.ca_maxoperations, kRecallOperations);
    back.ca_maxrequests = std::max(back.ca_maxrequests, 1U);
  });
}

/// The client does not learn of it.
void hide_backchannel(peer::ReplyStep& reply) {
  const auto asked = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
  if (!asked || (asked->csa_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0) return;
  change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION, [&](auto& result) {
    result.resok4.csr_flags &= ~nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
    result.resok4.csr_back_chan_attrs = asked->csa_back_chan_attrs;
  });
}

void use_unoffered_credential(nfs4::CreateSessionArgs& args) {
  for (nfs4::CallbackSecParms& parms : args.csa_sec_parms) {
    if (parms.cb_secflavor != nfs4::CallbackFlavor::AUTH_NONE) continue;
    parms.cb_secflavor = nfs4::CallbackFlavor::AUTH_SYS;
    parms.cbsp_sys_cred = {};
  }
}

void use_other_user(nfs4::CreateSessionArgs& args) {
  for (nfs4::CallbackSecParms& parms : args.csa_sec_parms) parms.cbsp_sys_cred = {};
}

/// Whether the slot's last recall had the same sequence ID: it is sent again.
bool is_repeated(const Recall& recall, SessionTable& sessions) {
  SessionHistory* session = sessions.find(recall.sequence->csa_sessionid);
  if (!session) return false;
  const auto [last, first_use] =
      session->calls.try_emplace(recall.sequence->csa_slotid, recall.sequence->csa_sequenceid);
  const bool same = last->second == recall.sequence->csa_sequenceid;
  last->second = recall.sequence->csa_sequenceid;
  return same && !first_use;
}

void withhold_repeated(peer::CallbackStep& callback, SessionTable& sessions) {
  const auto recall = recall_of(callback.message);
  if (recall && is_repeated(*recall, sessions)) callback.withheld = true;
}

void renumber_repeated(peer::CallbackStep& callback, SessionTable& sessions) {
  change_recall(callback, [&](Recall& recall) {
    if (is_repeated(recall, sessions)) ++recall.sequence->csa_sequenceid;
  });
}

/// A recall that is repeated over its connection was answered, but not taken.
void renumber_delayed(peer::CallbackStep& callback, SessionTable& sessions) {
  change_recall(callback, [&](Recall& recall) {
    SessionHistory* session = sessions.find(recall.sequence->csa_sessionid);
    if (!session) return;
    const bool repeated = is_repeated(recall, sessions);
    std::uint64_t& connection = session->called_over[recall.sequence->csa_slotid];
    if (std::exchange(connection, callback.connection) == callback.connection && repeated)
      ++recall.sequence->csa_sequenceid;
  });
}

/// A referring call of the session's first slot too.
void refer_to_first_slot(peer::CallbackStep& callback, SessionTable& sessions) {
  change_recall(callback, [&](Recall& recall) {
    for (nfs4::ReferringCallList& list : recall.sequence->csa_referring_call_lists) {
      SessionHistory* session = sessions.find(list.rcl_sessionid);
      if (session) list.rcl_referring_calls.push_back({session->slots[0].sequence.value_or(0), 0});
    }
  });
}

void use_first_program(peer::CallStep& call, SessionTable& sessions) {
  change_asked(call, [&](nfs4::CreateSessionArgs& args) {
    const auto [first, is_new] =
        sessions.first_programs.try_emplace(args.csa_clientid, args.csa_cb_program);
    args.csa_cb_program = first->second;
  });
}

/// As if all sessions of the client had one slot.
void number_by_client(peer::CallbackStep& callback, SessionTable& sessions) {
  change_recall(callback, [&](Recall& recall) {
    const SessionHistory* session = sessions.find(recall.sequence->csa_sessionid);
    if (session) recall.sequence->csa_sequenceid = ++sessions.recalls[session->client];
  });
}

void control_nothing(peer::CallStep& call) {
  const auto span = find_arguments(message_of(call), Opnum::OP_BACKCHANNEL_CTL);
  if (span && span->index == 0) refuse(call, Opnum::OP_BACKCHANNEL_CTL, Status::NFS4_OK);
}

void keep_program(peer::CallStep& call, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(message_of(call));
  if (!session) return;
  change_arguments<nfs4::BackchannelCtlArgs>(
      call, Opnum::OP_BACKCHANNEL_CTL,
      [&](nfs4::BackchannelCtlArgs& args) { args.bca_cb_program = session->cb_program; });
}

/// An OPEN that has to wait for the return of a delegation.
void grant_waiting_open(peer::ReplyStep& reply) {
  change_result<nfs4::OpenResult>(reply, Opnum::OP_OPEN, [](nfs4::OpenResult& result) {
    if (result.status == Status::NFS4ERR_DELAY) result.status = Status::NFS4_OK;
  });
}

constexpr Deviation kSessionCallbacks[] = {
    {.name = "callback-unannounced",
     .breaks = {"RFC8167-6-1"},
     .sentence = "A session without a backchannel is called back.",
     .server = {.call = ask_for_backchannel, .reply = hide_backchannel},
     .script_shows = false},
    {.name = "callback-program-wrong",
     .breaks = {"RFC8881-18.36.3-10"},
     .sentence = "Callbacks call another program than csa_cb_program.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      change_asked(call,
                                   [](nfs4::CreateSessionArgs& args) { ++args.csa_cb_program; });
                    }},
     .script_shows = false},
    {.name = "callback-program-of-first-session",
     .breaks = {"RFC8881-18.36.3-10"},
     .sentence = "Callbacks of each session of a client call the program of its first one.",
     .server = {.session_call = use_first_program},
     .script_shows = false},
    {.name = "callback-numbers-go-on",
     .breaks = {"RFC8881-18.36.3-15"},
     .sentence = "The sequence IDs of recalls go on from session to session of a client.",
     .server = {.callback = number_by_client},
     .script_shows = false},
    {.name = "callback-credential-unoffered",
     .breaks = {"RFC8881-2.10.8.2-1"},
     .sentence = "Callbacks carry AUTH_SYS although only AUTH_NONE was offered.",
     .server = {.call = [](peer::CallStep& call) { change_asked(call, use_unoffered_credential); }},
     .script_shows = false},
    {.name = "callback-of-other-user",
     .breaks = {"RFC8167-8-1"},
     .sentence = "Callbacks carry AUTH_SYS of another user than was offered.",
     .server = {.call = [](peer::CallStep& call) { change_asked(call, use_other_user); }},
     .script_shows = false},
    {.name = "callback-sequence-skips",
     .breaks = {"RFC8881-2.10.3-1"},
     .sentence = "The sequence IDs of callbacks start with 2.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable&) {
                      change_recall(callback,
                                    [](Recall& recall) { ++recall.sequence->csa_sequenceid; });
                    }},
     .script_shows = false},
    {.name = "recall-without-sequence",
     .breaks = {"RFC8881-20.9.3-1"},
     .sentence = "A recall has no CB_SEQUENCE.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable&) {
                      change_recall(callback, [](Recall& recall) { recall.sequence.reset(); });
                    }},
     .script_shows = false},
    {.name = "recall-names-other-stateid",
     .breaks = {"RFC8267-6.5.2-1"},
     .sentence = "A recall names another stateid than the delegation's.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable&) {
                      change_recall(callback, [](Recall& recall) {
                        recall.recall.stateid.other[0] ^= std::byte{1};
                      });
                    }},
     .script_shows = false},
    {.name = "waiting-open-granted",
     .breaks = {"RFC8881-10.2-1"},
     .sentence = "An OPEN succeeds while a delegation that it conflicts with is held.",
     .server = {.reply = grant_waiting_open},
     .script_shows = false},
    {.name = "lost-recall-not-repeated",
     .breaks = {"RFC8881-2.10.13.2.4-1"},
     .sentence = "A recall whose connection was lost is not sent again.",
     .server = {.callback = withhold_repeated},
     .script_shows = false},
    {.name = "lost-recall-renumbered",
     .breaks = {"RFC8881-2.10.13.2.4-1"},
     .sentence = "A recall whose connection was lost is sent again under the next sequence ID.",
     .server = {.callback = renumber_repeated},
     .script_shows = false},
    {.name = "delayed-recall-renumbered",
     .breaks = {"RFC8881-2.10.3-1"},
     .sentence = "A recall whose CB_SEQUENCE was delayed is sent again under the next sequence ID.",
     .server = {.callback = renumber_delayed},
     .script_shows = false},
    {.name = "recall-without-referring-call",
     .breaks = {"RFC8881-2.10.6.3-1"},
     .sentence = "A recall names no referring call although the grant may not have been seen.",
     .server = {.callback =
                    [](peer::CallbackStep& callback, SessionTable&) {
                      change_recall(callback, [](Recall& recall) {
                        recall.sequence->csa_referring_call_lists.clear();
                      });
                    }},
     .script_shows = false},
    {.name = "referring-calls-of-others",
     .breaks = {"RFC8881-2.10.6.3-2"},
     .sentence = "Recalls refer to the last request of the first slot too, whatever it was about.",
     .server = {.callback = refer_to_first_slot},
     .script_shows = false},
    {.name = "control-without-sequence",
     .breaks = {"RFC8881-18.33.3-1"},
     .sentence = "BACKCHANNEL_CTL succeeds without SEQUENCE.",
     .server = {.call = control_nothing},
     .script_shows = false},
    {.name = "control-program-ignored",
     .breaks = {"RFC8881-18.33.3-2"},
     .sentence = "BACKCHANNEL_CTL leaves the program number of callbacks.",
     .server = {.session_call = keep_program},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_callbacks_family() {
  return kSessionCallbacks;
}

}  // namespace steertag::deviations
