// Operations on sessions and their connections, as the server handles them.
// CREATE_SESSION, SEQUENCE, BIND_CONN_TO_SESSION, BACKCHANNEL_CTL, DESTROY_SESSION.
#include <algorithm>

#include "endpoint/limits.h"
#include "server/v4/state/layouts.h"
#include "server/v4/state/session_backchannel.h"
#include "server/v4/state_access.h"
#include "server/v4/state_operations.h"
#include "wire/header.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kCreateFlags = nfs4::CREATE_SESSION4_FLAG_PERSIST |
                                       nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN |
                                       nfs4::CREATE_SESSION4_FLAG_CONN_RDMA;

/// SEQUENCE4resok: the session's id and five words.
constexpr std::size_t kSequenceResultBytes = nfs4::kSessionIdOctets + 5 * 4;

/// The connection is the session's, as the one used last.
Binding& bind(Session& session, const ConnectionInfo& info) {
  std::vector<Binding>& all = session.bindings;
  const auto known = std::ranges::find(all, info.id, &Binding::connection);
  Binding binding;
  if (known != all.end()) {
    binding = *known;
    all.erase(known);
  } else if (all.size() >= kMostConnectionsPerSession) {
    all.erase(all.begin());
  }
  binding.connection = info.id;
  return all.emplace_back(std::move(binding));
}

/// Slots of a session at most. Unless `slots` says how many, none is beyond what the connection's
/// credits let be in use.
std::uint32_t most_slots(std::uint32_t slots, const ConnectionInfo& info) {
  if (slots > 0) return std::min(slots, kMostOfferedSlots);
  return info.most_slots > 0 ? std::min(info.most_slots, kMostSlots) : kMostSlots;
}

/// What we make of the fore channel that the client asks for (RFC 8881 18.36.3): nothing grows.
nfs4::ChannelAttrs fore_channel(const nfs4::ChannelAttrs& asked, std::uint32_t slots,
                                const ConnectionInfo& info) {
  nfs4::ChannelAttrs granted;
  const auto largest = static_cast<std::uint32_t>(kLargestCall);
  granted.ca_maxrequestsize = std::min(asked.ca_maxrequestsize, largest);
  granted.ca_maxresponsesize = std::min(asked.ca_maxresponsesize, largest);
  granted.ca_maxresponsesize_cached =
      std::min({asked.ca_maxresponsesize_cached, granted.ca_maxresponsesize, kLargestCachedReply});
  granted.ca_maxoperations = std::min(asked.ca_maxoperations, kMostOperationsPerCompound);
  granted.ca_maxrequests = std::min(asked.ca_maxrequests, most_slots(slots, info));
  if (info.rdma && !asked.ca_rdma_ird.empty())
    granted.ca_rdma_ird.push_back(std::min(asked.ca_rdma_ird[0], kMostIrd));
  return granted;
}

nfs4::Status check_channels(const nfs4::CreateSessionArgs& args) {
  const nfs4::ChannelAttrs& fore = args.csa_fore_chan_attrs;
  const nfs4::ChannelAttrs& back = args.csa_back_chan_attrs;
  const bool with_back = (args.csa_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0;
  const auto too_small = [](const nfs4::ChannelAttrs& channel, std::uint32_t octets,
                            std::uint32_t operations) {
    return channel.ca_maxrequestsize < octets || channel.ca_maxresponsesize < octets ||
           channel.ca_maxoperations < operations || channel.ca_maxrequests == 0;
  };
  // Backwards CB_SEQUENCE and CB_RECALL have to fit. A client that describes a backchannel may bind
  // it later (RFC 8881 18.34.3); one that wants none leaves zeros.
  const bool has_back = with_back || back != nfs4::ChannelAttrs{};
  if (too_small(fore, kSmallestChannelSize, 1) ||
      (has_back && too_small(back, kSmallestBackchannelSize, 2)))
    return nfs4::Status::NFS4ERR_TOOSMALL;
  return nfs4::Status::NFS4_OK;
}

nfs4::SessionId new_session_id(StateTables& tables, const Client& client) {
  nfs4::SessionId id;
  do {
    wire::store_u64(id.data(), client.id);
    wire::store_u64(id.data() + 8, tables.options.random());
  } while (tables.find_session(id));
  return id;
}

/// Slots that the reply cache has room for.
std::uint32_t slots_within_cache_limits(const StateTables& tables, const Client& client,
                                        std::uint32_t asked, std::size_t slot_bytes) {
  const auto rest = [](std::size_t most, std::size_t held) { return most - std::min(most, held); };
  const std::size_t of_host = client.host_usage->cached_bytes;
  const std::size_t left =
      std::min(rest(kMostCachedBytes, tables.cached_bytes), rest(kMostCachedBytesPerHost, of_host));
  const bool freely = tables.cached_bytes + asked * slot_bytes <= kFreelyCachedBytes &&
                      of_host + asked * slot_bytes <= kFreelyCachedBytesPerHost;
  const std::uint32_t share = freely ? asked : std::min(asked, kFewSlots);
  return static_cast<std::uint32_t>(std::min<std::size_t>(share, left / slot_bytes));
}

bool has_handles(std::span<const nfs4::CallbackSecParms> parms) {
  return std::ranges::any_of(parms, [](const nfs4::CallbackSecParms& each) {
    return each.cb_secflavor == nfs4::CallbackFlavor::RPCSEC_GSS;
  });
}

/// Phase 4 of RFC 8881 18.36.4. Nothing has changed when it fails.
nfs4::CreateSessionResult make_session(const nfs4::CreateSessionArgs& args, CompoundCall& call,
                                       Client& client) {
  nfs4::CreateSessionResult result;
  StateTables& tables = call.state.tables();
  const ConnectionInfo& info = call.context.connection;
  if ((args.csa_flags & ~kCreateFlags) != 0) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return result;
  }
  // RFC 8881 18.36.3: this server has given no client a handle of RPCSEC_GSS.
  if (has_handles(args.csa_sec_parms)) {
    result.status = nfs4::Status::NFS4ERR_NOENT;
    return result;
  }
  result.status = check_channels(args);
  if (result.status != nfs4::Status::NFS4_OK) return result;
  auto session = std::make_unique<Session>();
  session->fore = fore_channel(args.csa_fore_chan_attrs, tables.options.slots, info);
  const std::size_t slot_bytes =
      std::max<std::size_t>(session->fore.ca_maxresponsesize_cached, kSmallReply);
  const std::uint32_t slots =
      slots_within_cache_limits(tables, client, session->fore.ca_maxrequests, slot_bytes);
  if (slots == 0 || client.sessions.size() >= kMostSessionsPerClient) {
    result.status = nfs4::Status::NFS4ERR_NOSPC;
    return result;
  }
  session->fore.ca_maxrequests = slots;
  session->slots.resize(slots);
  session->reserved_bytes = slots * slot_bytes;
  session->back = args.csa_back_chan_attrs;
  if (!info.rdma) session->back.ca_rdma_ird.clear();
  session->back_slots.resize(std::min(session->back.ca_maxrequests, kMostBackSlots));
  session->cb_program = args.csa_cb_program;
  session->callable = take_credential(*session, args.csa_sec_parms);
  session->client = &client;
  session->id = new_session_id(tables, client);

  nfs4::CreateSessionOk& ok = result.resok4;
  ok.csr_sessionid = session->id;
  ok.csr_sequence = args.csa_sequence;
  ok.csr_fore_chan_attrs = session->fore;
  ok.csr_back_chan_attrs = session->back;
  // CREATE_SESSION4_FLAG_PERSIST is not granted: the reply cache is in memory.
  // CREATE_SESSION4_FLAG_CONN_RDMA asks to step a connection up to RDMA mode (RFC 8881 18.36.3). It
  // is never granted. A TCP connection of ours stays one, and RPC-over-RDMA connections start in
  // RDMA mode (RFC 8881 2.10.3.1).
  Session& made = tables.add_session(std::move(session));
  bind(made, info).fore = true;
  if ((args.csa_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0 && made.callable &&
      !info.backchannel.expired()) {
    ok.csr_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
    open_backchannel(tables, made, info);
  }
  return result;
}

std::uint32_t status_flags(StateTables& tables, const Session& session) {
  std::uint32_t flags = session.client->status_flags | backchannel_flags(tables, session);
  if (!session.client->revoked.empty()) flags |= nfs4::SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
  return flags;
}

/// Whether the retry is of the request that the slot holds, as far as that can be seen (RFC 8881
/// 2.10.6.1.3.1).
bool same_request(const Slot& slot, const CompoundCall& call) {
  return slot.uid == call.context.caller.uid && slot.request_bytes == call.request_bytes &&
         slot.operation_count == call.operation_count;
}

nfs4::Status check_new_request(const nfs4::SequenceArgs& args, const Session& session,
                               const CompoundCall& call) {
  if (call.operation_count > session.fore.ca_maxoperations)
    return nfs4::Status::NFS4ERR_TOO_MANY_OPS;
  if (call.request_bytes > session.fore.ca_maxrequestsize) return nfs4::Status::NFS4ERR_REQ_TOO_BIG;
  // RFC 8881 2.10.6.1.2: an error of SEQUENCE leaves the slot as it was. A reply may have no room
  // for its result, because the tag may be long. Check this before the slot is used.
  if (room_for_result(call, session.fore.ca_maxresponsesize) < kSequenceResultBytes)
    return nfs4::Status::NFS4ERR_REP_TOO_BIG;
  if (args.sa_cachethis &&
      room_for_result(call, session.fore.ca_maxresponsesize_cached) < kSequenceResultBytes)
    return nfs4::Status::NFS4ERR_REP_TOO_BIG_TO_CACHE;
  return nfs4::Status::NFS4_OK;
}

/// The slot's answer to a sequence id: goes on with NFS4_OK, which may be a retry (RFC 8881
/// 2.10.6.1, 18.46.3).
nfs4::Status check_slot(const nfs4::SequenceArgs& args, const Session& session,
                        const CompoundCall& call) {
  if (args.sa_slotid >= session.slots.size()) return nfs4::Status::NFS4ERR_BADSLOT;
  // RFC 8881 15.1.11.3; and one below the request's own slot breaks 2.10.6.1, which has no error
  // for it.
  if (args.sa_highest_slotid >= session.slots.size() || args.sa_highest_slotid < args.sa_slotid)
    return nfs4::Status::NFS4ERR_BAD_HIGH_SLOT;
  const Slot& slot = session.slots[args.sa_slotid];
  const bool next = args.sa_sequenceid == slot.sequence + 1;
  if (next && !slot.under_way) return check_new_request(args, session, call);
  if (args.sa_sequenceid != slot.sequence || (!slot.cached && !slot.under_way))
    return nfs4::Status::NFS4ERR_SEQ_MISORDERED;
  if (!same_request(slot, call)) return nfs4::Status::NFS4ERR_SEQ_FALSE_RETRY;
  return slot.under_way ? nfs4::Status::NFS4ERR_DELAY : nfs4::Status::NFS4_OK;
}

/// Which directions the connection may have from now on, or why none of them can be granted. One
/// that is bound already is not made to leave a channel, nor to join one, by demand (RFC
/// 8881 18.34.3).
Expected<nfs4::ChannelDirFromServer, nfs4::Status> directions(nfs4::ChannelDirFromClient asked,
                                                              const Binding* bound, bool callable) {
  using From = nfs4::ChannelDirFromClient;
  using To = nfs4::ChannelDirFromServer;
  const bool fore = bound && bound->fore;
  const bool back = bound && bound->back;
  switch (asked) {
    case From::CDFC4_FORE:
      if (back) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
      return To::CDFS4_FORE;
    case From::CDFC4_BACK:
      if (fore) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
      return To::CDFS4_BACK;
    case From::CDFC4_FORE_OR_BOTH:
      if (back && !fore) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
      return callable || back ? To::CDFS4_BOTH : To::CDFS4_FORE;
    case From::CDFC4_BACK_OR_BOTH:
      if (fore && !back) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
      return fore || !back ? To::CDFS4_BOTH : To::CDFS4_BACK;
  }
  return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
}

}  // namespace

void op_create_session(const nfs4::CreateSessionArgs& args, CompoundCall& call,
                       nfs4::CreateSessionResult& result) {
  StateTables& tables = call.state.tables();
  Client* client = tables.find_client(args.csa_clientid);
  if (!client || client->minorversion == 0) {
    result.status = nfs4::Status::NFS4ERR_STALE_CLIENTID;
    return;
  }
  // RFC 8881 18.36.4 phase 2: a retry gets the cached result, whoever sends it.
  if (args.csa_sequence == client->create_sequence) {
    result = client->create_reply;
    return;
  }
  if (args.csa_sequence != client->create_sequence + 1) {
    result.status = nfs4::Status::NFS4ERR_SEQ_MISORDERED;
    return;
  }
  // Phase 3: only the principal of EXCHANGE_ID confirms the record, and the record keeps its slot.
  // Behind the confirmation SP4_NONE protects nothing (18.35.3).
  if (!client->confirmed && client->principal != call.context.caller.uid) {
    result.status = nfs4::Status::NFS4ERR_CLID_INUSE;
    return;
  }
  result = make_session(args, call, *client);
  client->create_sequence = args.csa_sequence;
  client->create_reply = result;
  if (result.status != nfs4::Status::NFS4_OK) return;
  renew(tables, *client);
  if (client->confirmed) return;
  // Only now the client's former instance is gone for good.
  if (Client* former = tables.find_client(1, client->owner, true)) {
    // RFC 8881 12.7.1: its layouts too.
    if (call.pnfs.is_metadata_server() && !call.pnfs.data_servers->policy().restart_ends_layouts)
      inherit_layouts(tables, *former, *client);
    tables.remove_client(*former);
  }
  client->confirmed = true;
  if (tables.recovery.may_reclaim(*client))
    client->status_flags |= nfs4::SEQ4_STATUS_RESTART_RECLAIM_NEEDED;
}

void op_destroy_session(const nfs4::DestroySessionArgs& args, CompoundCall& call,
                        nfs4::DestroySessionResult& result) {
  StateTables& tables = call.state.tables();
  Session* session = tables.find_session(args.dsa_sessionid);
  if (!session) {
    result.status = nfs4::Status::NFS4ERR_BADSESSION;
    return;
  }
  // RFC 8881 18.37.3: of its own session it is the last operation. Nothing behind it would be
  // executed only once, because the reply cache is gone.
  const bool is_own = call.slot && call.slot->session == args.dsa_sessionid;
  if (is_own && call.operation_index + 1 < call.operation_count) {
    result.status = nfs4::Status::NFS4ERR_NOT_ONLY_OP;
    return;
  }
  const std::uint64_t connection = call.context.connection.id;
  if (std::ranges::find(session->bindings, connection, &Binding::connection) ==
      session->bindings.end()) {
    result.status = nfs4::Status::NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
    return;
  }
  tables.remove_session(*session);
}

void op_sequence(const nfs4::SequenceArgs& args, CompoundCall& call, nfs4::SequenceResult& result) {
  StateTables& tables = call.state.tables();
  Session* session = tables.find_session(args.sa_sessionid);
  result.status = session ? check_slot(args, *session, call) : nfs4::Status::NFS4ERR_BADSESSION;
  if (result.status != nfs4::Status::NFS4_OK) return;
  Slot& slot = session->slots[args.sa_slotid];
  // RFC 8881 2.10.3.1, 18.34.3: with SP4_NONE, the only protection we grant, a SEQUENCE is enough
  // to associate a connection with the fore channel, however many sessions it has.
  bind(*session, call.context.connection).fore = true;
  renew(tables, *session->client);
  call.clientid = session->client->id;
  SlotInUse& used = call.slot.emplace();
  used.session = session->id;
  used.slot = args.sa_slotid;
  used.cachethis = args.sa_cachethis;
  used.maxresponsesize = session->fore.ca_maxresponsesize;
  used.maxresponsesize_cached = session->fore.ca_maxresponsesize_cached;
  if (args.sa_sequenceid == slot.sequence) {
    used.replay = &slot.reply;
    return;
  }
  // RFC 8881 2.10.6.1: from here on the slot is this request's.
  slot.sequence = args.sa_sequenceid;
  slot.under_way = true;
  slot.cached = true;
  slot.uid = call.context.caller.uid;
  slot.request_bytes = call.request_bytes;
  slot.operation_count = call.operation_count;
  nfs4::SequenceOk& ok = result.resok4;
  ok.sr_sessionid = args.sa_sessionid;
  ok.sr_sequenceid = args.sa_sequenceid;
  ok.sr_slotid = args.sa_slotid;
  ok.sr_highest_slotid = static_cast<std::uint32_t>(session->slots.size() - 1);
  ok.sr_target_highest_slotid = ok.sr_highest_slotid;
  ok.sr_status_flags = status_flags(tables, *session);
}

void op_bind_conn_to_session(const nfs4::BindConnToSessionArgs& args, CompoundCall& call,
                             nfs4::BindConnToSessionResult& result) {
  StateTables& tables = call.state.tables();
  const ConnectionInfo& info = call.context.connection;
  Session* session = tables.find_session(args.bctsa_sessid);
  if (!session) {
    result.status = nfs4::Status::NFS4ERR_BADSESSION;
    return;
  }
  const auto bound = std::ranges::find(session->bindings, info.id, &Binding::connection);
  const bool callable = session->callable && !info.backchannel.expired();
  const bool fresh = bound == session->bindings.end();
  const auto granted = directions(args.bctsa_dir, fresh ? nullptr : &*bound, callable);
  if (!granted) {
    result.status = granted.error();
    return;
  }
  using To = nfs4::ChannelDirFromServer;
  Binding& binding = bind(*session, info);
  if (*granted != To::CDFS4_BACK) binding.fore = true;
  if (*granted != To::CDFS4_FORE) open_backchannel(tables, *session, info);
  result.resok4.bctsr_sessid = session->id;
  result.resok4.bctsr_dir = *granted;
  // True only of a connection that is RPC-over-RDMA from its start: none is stepped up.
  result.resok4.bctsr_use_conn_in_rdma_mode = args.bctsa_use_conn_in_rdma_mode && info.rdma;
}

void op_backchannel_ctl(const nfs4::BackchannelCtlArgs& args, CompoundCall& call,
                        nfs4::BackchannelCtlResult& result) {
  StateTables& tables = call.state.tables();
  Session* session = call.slot ? tables.find_session(call.slot->session) : nullptr;
  if (!session) {
    result.status = nfs4::Status::NFS4ERR_DEADSESSION;
    return;
  }
  // RFC 8881 18.33.3: handles of RPCSEC_GSS contexts that the server does not know.
  if (has_handles(args.bca_sec_parms)) {
    result.status = nfs4::Status::NFS4ERR_NOENT;
    return;
  }
  // Handles are added: without other parameters those of CREATE_SESSION stay.
  if (take_credential(*session, args.bca_sec_parms)) session->callable = true;
  session->cb_program = args.bca_cb_program;
  if (session->back_state != BackState::none) probe_backchannel(tables, *session);
}

}  // namespace steertag::peer
