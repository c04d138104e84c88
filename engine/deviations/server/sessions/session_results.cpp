// Deviations in what the server answers to operations on sessions.
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "endpoint/limits.h"
#include "nfs/v4/session_ops.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

/// `change(CreateSessionOk&)` of a CREATE_SESSION that made a session.
template <class Change>
void change_new_session(peer::ReplyStep& reply, Change change) {
  change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION, [&](auto& result) {
    if (result.status == Status::NFS4_OK) change(result.resok4);
  });
}

/// `change(SequenceOk&)` of a SEQUENCE that was granted its slot.
template <class Change>
void change_sequence(peer::ReplyStep& reply, Change change) {
  change_result<nfs4::SequenceResult>(reply, Opnum::OP_SEQUENCE, [&](auto& result) {
    if (result.status == Status::NFS4_OK) change(result.resok4);
  });
}

/// The operation fails with `to` in place of `from`.
template <class Result>
void change_error(peer::ReplyStep& reply, Opnum number, Status from, Status to) {
  change_result<Result>(reply, number, [&](Result& result) {
    if (result.status == from) result.status = to;
  });
}

/// The retry of a request that is not cached fails in its SEQUENCE, with `status`. The conforming
/// answer has the error in the operation behind (RFC 8881 2.10.6.1.3).
void fail_uncached_retry(peer::ReplyStep& reply, Status status) {
  constexpr auto kUncached = static_cast<std::uint32_t>(Status::NFS4ERR_RETRY_UNCACHED_REP);
  const Bytes& stream = reply.reply.stream();
  const auto span = find_result(stream, Opnum::OP_SEQUENCE);
  constexpr std::size_t kNextResult = 8;  // opnum and status
  if (!span || stream.size() < span->end + kNextResult ||
      wire::load_u32(stream.data() + span->end + 4) != kUncached)
    return;
  change_result<nfs4::SequenceResult>(reply, Opnum::OP_SEQUENCE,
                                      [&](auto& result) { result.status = status; });
}

void call_lost_session_dead(peer::ReplyStep& reply) {
  change_error<nfs4::SequenceResult>(reply, Opnum::OP_SEQUENCE, Status::NFS4ERR_BADSESSION,
                                     Status::NFS4ERR_DEADSESSION);
}

void own_by_connection(peer::ReplyStep& reply) {
  const std::string text = "connection " + std::to_string(reply.connection);
  change_result<nfs4::ExchangeIdResult>(
      reply, Opnum::OP_EXCHANGE_ID, [&](nfs4::ExchangeIdResult& result) {
        result.resok4.eir_server_owner.so_major_id = std::as_bytes(std::span(text));
      });
}

constexpr Deviation kSessionResults[] = {
    {.name = "channel-size-raised",
     .breaks = {"RFC8881-18.36.3-5"},
     .sentence = "CREATE_SESSION grants a larger ca_maxrequestsize than was asked for.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_new_session(reply, [](nfs4::CreateSessionOk& ok) {
                        ok.csr_fore_chan_attrs.ca_maxrequestsize =
                            static_cast<std::uint32_t>(peer::kLargestCall);
                      });
                    }},
     .script_shows = false},
    {.name = "back-channel-slots-changed",
     .breaks = {"RFC8881-18.36.3-6"},
     .sentence = "CREATE_SESSION lowers ca_maxrequests of the backchannel.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_new_session(reply, [](nfs4::CreateSessionOk& ok) {
                        std::uint32_t& slots = ok.csr_back_chan_attrs.ca_maxrequests;
                        slots = std::max(1U, slots / 2);
                      });
                    }},
     .script_shows = false},
    {.name = "back-channel-flag-unasked",
     .breaks = {"RFC8881-18.36.3-2"},
     .sentence = "CREATE_SESSION grants a backchannel that was not asked for.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_new_session(reply, [](nfs4::CreateSessionOk& ok) {
                        ok.csr_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
                      });
                    }},
     .script_shows = false},
    {.name = "rdma-flag-unasked",
     .breaks = {"RFC8881-18.36.3-3"},
     .sentence = "CREATE_SESSION grants a step up to RDMA that was not asked for.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_new_session(reply, [](nfs4::CreateSessionOk& ok) {
                        ok.csr_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_RDMA;
                      });
                    }},
     .script_shows = false},
    {.name = "create-sequence-wrong",
     .breaks = {"RFC8881-18.36.3-11"},
     .sentence = "csr_sequence is one more than csa_sequence.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_new_session(reply,
                                         [](nfs4::CreateSessionOk& ok) { ++ok.csr_sequence; });
                    }},
     .script_shows = false},
    {.name = "unknown-client-invalid",
     .breaks = {"RFC8881-18.36.4-4"},
     .sentence = "CREATE_SESSION for an unknown client ID gets NFS4ERR_INVAL.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_error<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION,
                                                              Status::NFS4ERR_STALE_CLIENTID,
                                                              Status::NFS4ERR_INVAL);
                    }},
     .script_shows = false},
    {.name = "sequence-names-slot-zero",
     .breaks = {"RFC8881-18.46.3-3"},
     .sentence = "The result of SEQUENCE names slot 0 whatever was used.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_sequence(reply, [](nfs4::SequenceOk& ok) { ok.sr_slotid = 0; });
                    }},
     .script_shows = false},
    {.name = "highest-slot-lowered",
     .breaks = {"RFC8881-2.10.6.1-5"},
     .sentence = "SEQUENCE enforces slot 0 as the highest.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_sequence(reply,
                                      [](nfs4::SequenceOk& ok) { ok.sr_highest_slotid = 0; });
                    }},
     .script_shows = false},
    {.name = "bad-slot-misordered",
     .breaks = {"RFC8881-15.1.11.2-1"},
     .sentence = "A slot that is not there gets NFS4ERR_SEQ_MISORDERED.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_error<nfs4::SequenceResult>(reply, Opnum::OP_SEQUENCE,
                                                         Status::NFS4ERR_BADSLOT,
                                                         Status::NFS4ERR_SEQ_MISORDERED);
                    }},
     .script_shows = false},
    {.name = "lost-session-dead",
     .breaks = {"RFC8881-2.10.13.1.4-1"},
     .sentence = "A session that is not there gets NFS4ERR_DEADSESSION.",
     .server = {.reply = call_lost_session_dead},
     .script_shows = false},
    {.name = "data-server-session-dead",
     .breaks = {"RFC8881-2.10.13.1.4-1"},
     .sentence = "A session of another server gets NFS4ERR_DEADSESSION at a data server.",
     .server = {.reply = call_lost_session_dead},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "uncached-retry-fails-sequence",
     .breaks = {"RFC8881-2.10.6.1.3-2"},
     .sentence = "The retry of an uncached request gets NFS4ERR_RETRY_UNCACHED_REP for SEQUENCE.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      fail_uncached_retry(reply, Status::NFS4ERR_RETRY_UNCACHED_REP);
                    }},
     .script_shows = false},
    {.name = "uncached-retry-misordered",
     .breaks = {"RFC8881-2.10.6.1.3-1"},
     .sentence = "The retry of an uncached request gets NFS4ERR_SEQ_MISORDERED.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      fail_uncached_retry(reply, Status::NFS4ERR_SEQ_MISORDERED);
                    }},
     .script_shows = false},
    {.name = "path-down-untold",
     .breaks = {"RFC8881-2.10.13.2.4-2"},
     .sentence = "SEQUENCE never says that the path of callbacks is down.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_sequence(reply, [](nfs4::SequenceOk& ok) {
                        ok.sr_status_flags &= ~nfs4::SEQ4_STATUS_CB_PATH_DOWN;
                      });
                    }},
     .script_shows = false},
    {.name = "session-path-down-untold",
     .breaks = {"RFC8881-2.10.6.2-5"},
     .sentence = "SEQUENCE never says that the session's path of callbacks is down.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_sequence(reply, [](nfs4::SequenceOk& ok) {
                        ok.sr_status_flags &= ~nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;
                      });
                    }},
     .script_shows = false},
    {.name = "rdma-mode-claimed",
     .breaks = {"RFC8881-18.34.3-3"},
     .sentence = "BIND_CONN_TO_SESSION claims RDMA mode unasked.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      change_result<nfs4::BindConnToSessionResult>(
                          reply, Opnum::OP_BIND_CONN_TO_SESSION,
                          [](auto& result) { result.resok4.bctsr_use_conn_in_rdma_mode = true; });
                    }},
     .script_shows = false},
    {.name = "server-owner-per-connection",
     .breaks = {"RFC8881-2.10.5-2"},
     .sentence = "EXCHANGE_ID names another server owner on each connection.",
     .server = {.reply = own_by_connection},
     .script_shows = false},
    {.name = "data-server-owner-per-connection",
     .breaks = {"RFC8881-2.10.5-2"},
     .sentence = "EXCHANGE_ID at a data server names another server owner on each connection.",
     .server = {.reply = own_by_connection},
     .script_shows = false,
     .at_data_servers = true},
};

}  // namespace

std::span<const Deviation> session_results_family() {
  return kSessionResults;
}

}  // namespace steertag::deviations
