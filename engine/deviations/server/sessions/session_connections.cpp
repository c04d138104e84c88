// Deviations in which connections a session has (RFC 8881 2.10.3.1, 18.34).
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/session_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

void refuse_second(peer::CallStep& call, SessionTable& sessions) {
  const auto args =
      arguments_of<nfs4::BindConnToSessionArgs>(message_of(call), Opnum::OP_BIND_CONN_TO_SESSION);
  const SessionHistory* session = args ? sessions.find(args->bctsa_sessid) : nullptr;
  if (session && !session->connections.contains(call.connection))
    refuse(call, Opnum::OP_BIND_CONN_TO_SESSION, Status::NFS4ERR_INVAL);
}

void refuse_unbound(peer::CallStep& call, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(message_of(call));
  if (session && !session->connections.contains(call.connection))
    refuse(call, Opnum::OP_SEQUENCE, Status::NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
}

void refuse_next_session(peer::CallStep& call, SessionTable& sessions) {
  const SessionHistory* session = sessions.session_of(message_of(call));
  if (session && sessions.any_other_has(*session, call.connection))
    refuse(call, Opnum::OP_SEQUENCE, Status::NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
}

nfs4::ChannelDirFromServer as_asked(nfs4::ChannelDirFromClient asked) {
  using From = nfs4::ChannelDirFromClient;
  using To = nfs4::ChannelDirFromServer;
  if (asked == From::CDFC4_FORE) return To::CDFS4_FORE;
  return asked == From::CDFC4_BACK ? To::CDFS4_BACK : To::CDFS4_BOTH;
}

/// NFS4ERR_INVAL is what a conforming server says of a channel that the connection does not have.
void grant_any_channel(peer::ReplyStep& reply) {
  const auto args =
      arguments_of<nfs4::BindConnToSessionArgs>(reply.call, Opnum::OP_BIND_CONN_TO_SESSION);
  if (!args) return;
  change_result<nfs4::BindConnToSessionResult>(
      reply, Opnum::OP_BIND_CONN_TO_SESSION, [&](nfs4::BindConnToSessionResult& result) {
        if (result.status != Status::NFS4ERR_INVAL) return;
        result.status = Status::NFS4_OK;
        result.resok4.bctsr_sessid = args->bctsa_sessid;
        result.resok4.bctsr_dir = as_asked(args->bctsa_dir);
      });
}

void keep_path_flags(peer::ReplyStep& reply, SessionTable& sessions) {
  SessionHistory* session = sessions.session_of(reply.call);
  if (!session) return;
  constexpr std::uint32_t kPath = nfs4::SEQ4_STATUS_CB_PATH_DOWN |
                                  nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION |
                                  nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT;
  change_result<nfs4::SequenceResult>(reply, Opnum::OP_SEQUENCE, [&](auto& result) {
    if (result.status != Status::NFS4_OK) return;
    session->status_flags |= result.resok4.sr_status_flags & kPath;
    result.resok4.sr_status_flags |= session->status_flags;
  });
}

/// The conforming answer is NFS4ERR_NOT_ONLY_OP.
void bind_behind_sequence(peer::ReplyStep& reply) {
  if (!find_result(reply.reply.stream(), Opnum::OP_SEQUENCE)) return;
  change_result<nfs4::BindConnToSessionResult>(reply, Opnum::OP_BIND_CONN_TO_SESSION,
                                               [](nfs4::BindConnToSessionResult& result) {
                                                 if (result.status == Status::NFS4ERR_NOT_ONLY_OP)
                                                   result.status = Status::NFS4_OK;
                                               });
}

constexpr Deviation kSessionConnections[] = {
    {.name = "bind-behind-sequence",
     .breaks = {"RFC8881-18.34.3-5"},
     .sentence = "BIND_CONN_TO_SESSION succeeds behind a SEQUENCE.",
     .server = {.reply = bind_behind_sequence},
     .script_shows = false},
    {.name = "bind-beside-others",
     .breaks = {"RFC8881-15.1.3.3-1"},
     .sentence = "BIND_CONN_TO_SESSION is executed, and the operations behind it are not.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      keep_first_alone(call, Opnum::OP_BIND_CONN_TO_SESSION);
                    }},
     .script_shows = false},
    {.name = "bind-changes-granted",
     .breaks = {"RFC8881-18.34.3-4"},
     .sentence = "A connection of the session gets whatever channels are asked for.",
     .server = {.reply = grant_any_channel},
     .script_shows = false},
    {.name = "second-connection-refused",
     .breaks = {"RFC8881-2.10.5-1"},
     .sentence = "A session takes no second connection.",
     .server = {.session_call = refuse_second},
     .script_shows = false},
    {.name = "unbound-connection-refused",
     .breaks = {"RFC8881-2.10.3.1-4"},
     .sentence = "A SEQUENCE over a connection that was never bound is refused.",
     .server = {.session_call = refuse_unbound},
     .script_shows = false},
    {.name = "one-session-per-connection",
     .breaks = {"RFC8881-2.10.3.1-5"},
     .sentence = "A connection of one session is refused to the next one.",
     .server = {.session_call = refuse_next_session},
     .script_shows = false},
    {.name = "path-flags-stay",
     .breaks = {"RFC8881-18.46.3-1"},
     .sentence = "Flags on the path of callbacks stay when it is up again.",
     .server = {.session_reply = keep_path_flags},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_connections_family() {
  return kSessionConnections;
}

}  // namespace steertag::deviations
