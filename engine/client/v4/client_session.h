// A session of NFS version 4.1 as its client keeps it (RFC 8881 2.10).
// The client makes it, uses its slots, serves its callbacks, and destroys it. It makes a new one
// when the server has forgotten it.
#pragma once

#include <deque>
#include <memory>

#include "client/files/delay.h"
#include "client/rdma/call_schedule.h"
#include "client/v4/callback_program.h"
#include "client/v4/client_compound.h"
#include "client/v4/slot_table.h"

namespace steertag::peer {

/// Slots that are asked for if the options do not say how many, and the transport takes so many
/// calls: more would only wait.
inline constexpr std::uint32_t kMostClientSlots = 64;
/// Slots that the options can ask for: as many as there can be credits.
inline constexpr std::uint32_t kMostWishedSlots = 1024;
/// Octets of a call or reply beside the file data: RPC header with AUTH_SYS, SEQUENCE, PUTFH.
inline constexpr std::uint32_t kCompoundOverhead = 1024;
/// ca_maxresponsesize_cached: replies that are kept hold handles and attributes, but no data.
inline constexpr std::uint32_t kMostKeptReply = 4096;
/// ca_maxoperations: the longest COMPOUND that is made has six.
inline constexpr std::uint32_t kMostClientOperations = 8;
/// Sessions that one call may be made in: a second loss in a row is not repaired by a third.
inline constexpr std::uint32_t kMostSessionsOfCall = 3;
/// BIND_CONN_TO_SESSIONs in a row after which the server still says that it cannot reach us. The
/// client then gives the session up, the other choice of RFC 8881 2.10.6.2.
inline constexpr std::uint32_t kMostVainBinds = 4;

struct SessionOptions {
  Identity identity;
  /// co_ownerid and co_verifier (RFC 8881 2.4): the same id and another verifier would end the
  /// state of an earlier client of that name.
  std::string owner;
  nfs4::Verifier verifier{};
  std::uint32_t transfer_bytes = 1U << 20;  // largest READ and WRITE
  /// Slots that are asked for, up to kMostWishedSlots. 0: as many as calls can be under way. A call
  /// with a slot but no credit waits in the requester.
  std::uint32_t slots = 0;
  /// Asked for the status of a CB_RECALL; without it there is no delegation to recall.
  std::function<nfs4::Status(const nfs4::CbRecallArgs&)> recall{};
  SessionPolicy policy{};
  /// eia_flags: EXCHGID4_FLAG_USE_PNFS_MDS or EXCHGID4_FLAG_USE_PNFS_DS, or none (RFC 8881 13.1).
  std::uint32_t roles = 0;

  /// Of a data server: whether calls may be made now. Others end with FileErrc::lease_in_doubt (RFC
  /// 8881 12.7.2). Without it all may.
  std::function<bool()> may_call{};

  /// The session is for READ, WRITE and COMMIT at a data server alone: no RECLAIM_COMPLETE (RFC
  /// 8881 13.6) and no backchannel.
  bool is_for_data() const { return roles == nfs4::EXCHGID4_FLAG_USE_PNFS_DS; }
};

/// What concerns the holder of layouts. Each must be there.
struct LayoutEvents {
  /// Asked for the status of a CB_LAYOUTRECALL.
  std::function<nfs4::Status(const nfs4::CbLayoutrecallArgs&)> recall;
  /// CB_NOTIFY_DEVICEID; false if a change does not decode.
  std::function<bool(const nfs4::CbNotifyDeviceidArgs&)> devices_changed;
  /// The server has forgotten the client, as after a restart, or has revoked some of its state.
  std::function<void()> forgotten;
};

using CompoundDone = std::function<void(Expected<CompoundReply, FileError>)>;

/// The lease is renewed after so long at the latest (RFC 8881 8.3). Leases last 90 s as a rule.
inline constexpr std::chrono::milliseconds kLeaseRenewal{20'000};

class ClientSession {
 public:
  /// `schedule` must outlive the session, which answers the calls of the server over its transport.
  ClientSession(CallSchedule& schedule, SessionOptions options);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  /// Queues a call; makes the session first if there is none. NFS4ERR_DELAY and NFS4ERR_GRACE are
  /// waited out (kMostDelay). A lost session is replaced. The caller sees neither.
  void call(ClientCompound call, CompoundDone done);
  /// Calls, waits, and gives `take`, which returns an Expected<..., FileError>, the reply.
  template <class Take>
  auto wait(ClientCompound compound, Take&& take)
      -> decltype(take(std::declval<CompoundReply&>())) {
    std::optional<decltype(take(std::declval<CompoundReply&>()))> outcome;
    call(std::move(compound), [&](Expected<CompoundReply, FileError> reply) {
      if (reply) {
        outcome = take(*reply);
      } else {
        outcome = tl::unexpected(std::move(reply.error()));
      }
    });
    schedule_.run_until([&] { return outcome.has_value(); });
    return std::move(*outcome);
  }
  /// Without it, callbacks about layouts get NFS4ERR_NOTSUPP. nullopt takes it back.
  void serve_layouts(std::optional<LayoutEvents> events) { layout_events_ = std::move(events); }

  /// Renews the lease by a SEQUENCE, if no call has for some time: for state whose data goes
  /// another way.
  void renew_lease();
  /// The server's lease_time: it is renewed three times within it, or more often.
  void learn_lease(std::chrono::seconds lease) {
    lease_ = lease;
    renewal_ = std::min(kLeaseRenewal, std::chrono::milliseconds(lease) / 3);
  }
  /// Whether the lease may be over: it has passed since the last call was sent that the server has
  /// answered. Not before the lease is known.
  bool is_lease_in_doubt() const {
    return lease_.count() > 0 && schedule_.now() - renewed_for_sure_ >= lease_;
  }

  /// DESTROY_SESSION and DESTROY_CLIENTID, if there are any; waits.
  Expected<void, FileError> end();

  /// As the server has allowed them, at most what was asked for; zeros before the first call's
  /// outcome.
  const nfs4::ChannelAttrs& channel() const { return channel_; }
  std::uint32_t slots() const { return slots_.size(); }
  std::uint64_t client_id() const { return client_id_; }
  /// Whether EXCHANGE_ID has given the server all of these roles (EXCHGID4_FLAG_USE_...).
  bool has_roles(std::uint32_t roles) const { return (server_roles_ & roles) == roles; }
  std::uint64_t sessions_made() const { return sessions_made_; }
  /// BIND_CONN_TO_SESSIONs that were answered.
  std::uint64_t binds() const { return binds_; }
  const SessionPolicy& policy() const { return options_.policy; }

 private:
  enum class Stage : std::uint8_t { none, making, completing, ready, leaving };
  struct Pending {
    ClientCompound call;
    CompoundDone done;
    Delay delay;
    std::uint32_t sessions = 0;  // in which it was made
    bool first = false;          // RECLAIM_COMPLETE, which comes before all others
  };
  using PendingRef = std::shared_ptr<Pending>;

  void pump();
  /// Ends the calls that wait, if none may be made. From a step of its own, as with any error.
  void refuse_waiting();
  void send(PendingRef pending, std::uint32_t slot);
  nfs4::SequenceArgs sequence_in(std::uint32_t slot) const;
  /// What a call knew when it was sent: what its reply says may be out of date since.
  struct Moment {
    std::uint64_t session = 0;
    std::uint64_t binds = 0;
    std::uint64_t recalls = 0;
    std::chrono::steady_clock::time_point at{};
  };
  bool is_too_big(const Request& request) const;
  void take_reply(const PendingRef& pending, std::uint32_t slot, const Moment& sent,
                  Expected<CallReply, CallError> outcome);
  /// Whether it is the reply to the call that has the slot.
  bool answers(const nfs4::SequenceOk& reply, std::uint32_t slot) const;
  /// SEQUENCE was refused, or its result is missing.
  void take_refusal(const PendingRef& pending, std::uint32_t slot, std::uint64_t session,
                    const FileError& error);
  void take_results(const PendingRef& pending, CompoundReply reply);
  void queue_again(const PendingRef& pending);
  void retry_later(const PendingRef& pending, const FileError& error);
  /// The session is of no use any more: `pending` goes into a new one.
  void renew(const PendingRef& pending, std::uint64_t session, const FileError& error);

  void make();
  void exchange_id();
  void create_session();
  void reclaim_complete();
  /// A call of its own, without SEQUENCE.
  template <class Take>
  void call_alone(ClientCompound call, Take take);
  void on_make_error(const FileError& error, void (ClientSession::*again)());
  void fail_all(const FileError& error);
  nfs4::ChannelAttrs wanted_channel() const;
  Expected<void, FileError> destroyed(const Expected<CallReply, CallError>& reply,
                                      nfs4::Opnum number, bool in_session) const;

  // The backchannel: client_backchannel.cpp.
  CallbackActions callback_actions();
  bool can_be_called() const {
    return !options_.is_for_data() && schedule_.transport().reverse_limits().has_value();
  }
  nfs4::ChannelAttrs wanted_backchannel() const;
  void backchannel_made(const nfs4::CreateSessionOk& made);
  /// Binds the present connection if the backchannel was lost with an earlier one, or if the server
  /// has said that it cannot reach us.
  void keep_backchannel();
  void bind();
  void take_bind(Expected<CallReply, CallError> outcome);
  void bind_refused(const FileError& error);
  /// sr_status_flags of a call that was sent after so many binds.
  void heed(std::uint32_t flags, std::uint64_t binds);
  /// DESTROY_SESSION behind SEQUENCE, by which its connection is the session's (RFC 8881 18.37.3).
  /// This also holds for a later connection on which it is sent again. DESTROY_SESSION alone if no
  /// slot is left.
  Request destroy_request(std::optional<std::uint32_t> slot) const;
  std::optional<std::uint32_t> destroy_slot();
  /// Gives the session up once its calls have ended; those that wait go into a new one.
  void leave();
  void destroy_left();
  void recall_slots(std::uint32_t highest_slot);
  /// The SEQUENCE that tells the server that its target is reached (RFC 8881 20.8.3), if no other
  /// call is about to.
  void tell_slots();

  CallSchedule& schedule_;
  SessionOptions options_;
  Stage stage_ = Stage::none;
  std::deque<PendingRef> waiting_;
  PendingRef completing_;  // RECLAIM_COMPLETE while it waits
  bool has_client_id_ = false;
  std::uint64_t client_id_ = 0;
  std::uint32_t server_roles_ = 0;     // eir_flags
  std::uint32_t create_sequence_ = 0;  // csa_sequence of the next CREATE_SESSION
  bool reclaimed_ = false;             // RECLAIM_COMPLETE was made for this client id
  bool exchanged_ = false;             // EXCHANGE_ID was made for the session that is being made
  Delay make_delay_;
  bool refusing_ = false;  // a step that ends them is due
  nfs4::SessionId session_id_{};
  nfs4::ChannelAttrs channel_{};
  SlotTable slots_;
  std::uint64_t sessions_made_ = 0;  // also the number of the present one
  CallbackProgram callbacks_;
  std::optional<LayoutEvents> layout_events_;
  bool has_backchannel_ = false;  // the server agreed to one
  std::chrono::milliseconds renewal_ = kLeaseRenewal;
  std::chrono::steady_clock::time_point renewed_{};
  std::chrono::seconds lease_{};  // 0: it is not known
  /// When the last call was sent whose SEQUENCE has succeeded.
  std::chrono::steady_clock::time_point renewed_for_sure_{};
  std::uint64_t back_connection_ = 0;  // the last one that was to become part of it
  bool path_down_ = false;             // the server has said so since
  bool binding_ = false;
  std::uint64_t binds_ = 0;
  std::uint32_t vain_binds_ = 0;  // since the server last did not say so
  Delay bind_delay_;
  bool destroying_ = false;
  std::uint64_t recalls_ = 0;    // CB_RECALL_SLOTs that lowered the target
  bool slots_recalled_ = false;  // and the server was not told that they are back
};

}  // namespace steertag::peer
