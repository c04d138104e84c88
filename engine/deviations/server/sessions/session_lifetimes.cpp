// Deviations in how sessions are created and destroyed (RFC 8881 18.36, 18.37).
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/session_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

void return_other_session(peer::ReplyStep& reply, SessionTable& sessions) {
  const auto args = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
  const auto other = args ? sessions.of_other_client(args->csa_clientid) : std::nullopt;
  if (!other) return;
  change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION,
                                           [&](nfs4::CreateSessionResult& result) {
                                             if (result.status == Status::NFS4_OK)
                                               result.resok4.csr_sessionid = *other;
                                           });
}

/// The retry of a CREATE_SESSION that stood behind SEQUENCE fails.
void forget_created(peer::ReplyStep& reply, SessionTable& sessions) {
  const auto args = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
  if (!args) return;
  const auto known = sessions.created_in_session.find(args->csa_clientid);
  if (known != sessions.created_in_session.end() && known->second == args->csa_sequence) {
    change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION, [](auto& result) {
      result.status = Status::NFS4ERR_SEQ_MISORDERED;
    });
  } else if (find_result(reply.reply.stream(), Opnum::OP_SEQUENCE)) {
    sessions.created_in_session[args->csa_clientid] = args->csa_sequence;
  }
}

void refuse_before_others(peer::ReplyStep& reply) {
  const auto span = find_arguments(reply.call, Opnum::OP_DESTROY_SESSION);
  if (!span || span->index == 0 || span->index + 1 == operation_count(reply.call)) return;
  change_result<nfs4::DestroySessionResult>(reply, Opnum::OP_DESTROY_SESSION, [](auto& result) {
    result.status = Status::NFS4ERR_NOT_ONLY_OP;
  });
}

/// The session that the server has made is given to none.
void refuse_second_session(peer::ReplyStep& reply, SessionTable& sessions) {
  const auto args = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
  if (!args || sessions.count_of_client(args->csa_clientid) < 2) return;
  change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION, [&](auto& result) {
    if (result.status != Status::NFS4_OK) return;
    sessions.forget(result.resok4.csr_sessionid);
    result.status = Status::NFS4ERR_NOSPC;
  });
}

void keep_session_operation(peer::CallStep& call) {
  for (const Opnum first :
       {Opnum::OP_EXCHANGE_ID, Opnum::OP_CREATE_SESSION, Opnum::OP_DESTROY_SESSION})
    keep_first_alone(call, first);
}

void note_open(peer::ReplyStep& reply, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(reply.call);
  const auto opened = result_of<nfs4::OpenResult>(reply.reply.stream(), Opnum::OP_OPEN);
  if (!session || !opened || opened->status != Status::NFS4_OK) return;
  if (sessions.opens.size() == kMostOpenHistories) sessions.opens.clear();
  sessions.opens[opened->resok4.stateid.other] = {session->client};
}

/// The stateid of an open that a session has taken with it becomes one of no state.
void spoil(nfs4::StateId& stateid, const SessionTable& sessions) {
  const auto found = sessions.opens.find(stateid.other);
  if (found != sessions.opens.end() && found->second.session_destroyed)
    stateid.other.fill(std::byte{0xee});
}

void close_opens(peer::CallStep& call, SessionTable& sessions) {
  const View message = message_of(call);
  if (const auto args =
          arguments_of<nfs4::DestroySessionArgs>(message, Opnum::OP_DESTROY_SESSION)) {
    const SessionHistory* destroyed = sessions.find(args->dsa_sessionid);
    for (auto& [other, open] : sessions.opens)
      open.session_destroyed |= destroyed && open.client == destroyed->client;
  }
  change_arguments<nfs4::ReadArgs>(call, Opnum::OP_READ,
                                   [&](auto& args) { spoil(args.stateid, sessions); });
  change_arguments<nfs4::WriteArgs>(call, Opnum::OP_WRITE,
                                    [&](auto& args) { spoil(args.stateid, sessions); });
  change_arguments<nfs4::CloseArgs>(call, Opnum::OP_CLOSE,
                                    [&](auto& args) { spoil(args.open_stateid, sessions); });
}

constexpr Deviation kSessionLifetimes[] = {
    {.name = "session-of-other-client",
     .breaks = {"RFC8881-2.10.1-1"},
     .sentence = "CREATE_SESSION gives the id of a session that another client has.",
     .server = {.session_reply = return_other_session},
     .script_shows = false},
    {.name = "second-session-refused",
     .breaks = {"RFC8881-2.10.5-3"},
     .sentence = "A client that has a session gets no second one.",
     .server = {.session_reply = refuse_second_session},
     .script_shows = false},
    {.name = "session-operations-beside-others",
     .breaks = {"RFC8881-18.36.3-13", "RFC8881-18.35.3-1", "RFC8881-18.37.3-3"},
     .sentence =
         "EXCHANGE_ID, CREATE_SESSION and DESTROY_SESSION are executed without SEQUENCE, and "
         "the operations behind them are not.",
     .server = {.call = keep_session_operation},
     .script_shows = false},
    {.name = "create-in-session-forgotten",
     .breaks = {"RFC8881-18.36.4-2"},
     .sentence = "The reply to a CREATE_SESSION behind SEQUENCE is in no cache of its own.",
     .server = {.session_reply = forget_created},
     .script_shows = false},
    {.name = "state-ends-with-session",
     .breaks = {"RFC8881-18.37.3-4"},
     .sentence = "DESTROY_SESSION closes the files that its client has open.",
     .server = {.session_call = close_opens, .session_reply = note_open},
     .script_shows = false},
    {.name = "other-session-destroyed-last-only",
     .breaks = {"RFC8881-18.37.3-5"},
     .sentence = "DESTROY_SESSION has to be the last operation whichever session it names.",
     .server = {.reply = refuse_before_others},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_lifetimes_family() {
  return kSessionLifetimes;
}

}  // namespace steertag::deviations
