// Deviations of the server in sessions, callbacks and COMPOUND of NFS version 4.
// Only deviation.cpp includes this.
#pragma once

#include "switches/switch.h"

namespace steertag::peer::deviation_rows {

inline constexpr DeviationInfo kSessions[] = {
    // sessions of NFS version 4.1
    {Deviation::granted_slots_missing, "granted-slots-missing", "RFC8881-18.36.3-1",
     "A session has half of the slots that it was granted."},
    {Deviation::too_many_operations_executed, "too-many-operations-executed", "RFC8881-18.36.3-8",
     "A COMPOUND with more operations than granted is executed."},
    {Deviation::large_request_executed, "large-request-executed", "RFC8881-2.10.6.4-1",
     "A request above ca_maxrequestsize is executed."},
    {Deviation::large_response_sent, "large-response-sent", "RFC8881-2.10.6.4-1",
     "Replies are larger than ca_maxresponsesize."},
    {Deviation::transport_header_counted, "transport-header-counted", "RFC8881-18.36.3-9",
     "The transport header counts in ca_maxrequestsize."},
    {Deviation::large_reply_cached, "large-reply-cached", "RFC8881-2.10.6.4-2",
     "A reply above ca_maxresponsesize_cached is sent although it was to be cached."},
    {Deviation::misordered_sequence_executed, "misordered-sequence-executed", "RFC8881-2.10.6.1-2",
     "A request with a sequence ID out of order is executed."},
    {Deviation::failed_sequence_moves_slot, "failed-sequence-moves-slot", "RFC8881-18.46.3-2",
     "A SEQUENCE that fails moves the slot's sequence ID."},
    {Deviation::retry_executed, "retry-executed", "RFC8881-2.10.6.1-4",
     "A retry is executed once more."},
    {Deviation::cached_reply_forgotten, "cached-reply-forgotten", "RFC8881-18.46.3-5",
     "A reply that was to be cached is not."},
    {Deviation::retry_of_other_user_answered, "retry-of-other-user-answered",
     "RFC8881-2.10.6.1.3.1-1", "Another user's retry gets the cached reply."},
    {Deviation::sequence_anywhere, "sequence-anywhere", "RFC8881-18.46.3-4",
     "SEQUENCE is executed at any place of a COMPOUND."},
    {Deviation::bind_beside_others, "bind-beside-others", "RFC8881-15.1.3.3-1",
     "BIND_CONN_TO_SESSION is executed beside other operations."},
    {Deviation::bind_changes_granted, "bind-changes-granted", "RFC8881-18.34.3-4",
     "A connection of the session gets whatever channels are asked for."},
    {Deviation::second_connection_refused, "second-connection-refused", "RFC8881-2.10.5-1",
     "A session takes no second connection."},
    {Deviation::replay_ignores_chunk, "replay-ignores-chunk", "RFC8881-2.10.6.2-3",
     "A cached result does not go to the write chunk of the retry."},
    {Deviation::path_flags_stay, "path-flags-stay", "RFC8881-18.46.3-1",
     "Flags on the path of callbacks stay when it is up again."},

    // callbacks
    {Deviation::callback_unannounced, "callback-unannounced", "RFC8167-6-1",
     "A session without a backchannel is called back."},
    {Deviation::callback_program_wrong, "callback-program-wrong", "RFC8881-18.36.3-10",
     "Callbacks call another program than csa_cb_program."},
    {Deviation::callback_credential_unoffered, "callback-credential-unoffered",
     "RFC8881-2.10.8.2-1", "Callbacks carry AUTH_SYS although only AUTH_NONE was offered."},
    {Deviation::recall_without_sequence, "recall-without-sequence", "RFC8881-20.9.3-1",
     "A recall has no CB_SEQUENCE."},
    {Deviation::callback_sequence_skips, "callback-sequence-skips", "RFC8881-2.10.3-1",
     "The sequence IDs of callbacks start with 2."},
    {Deviation::recall_names_other_stateid, "recall-names-other-stateid", "RFC8267-6.5.2-1",
     "A recall names another stateid than the delegation's."},
    {Deviation::lost_recall_not_repeated, "lost-recall-not-repeated", "RFC8881-2.10.13.2.4-1",
     "A recall whose connection was lost is not sent again."},
    {Deviation::lost_recall_renumbered, "lost-recall-renumbered", "RFC8881-2.10.13.2.4-1",
     "A recall whose connection was lost is sent again under the next sequence ID."},

    // channels of a session
    {Deviation::callback_of_other_user, "callback-of-other-user", "RFC8167-8-1",
     "Callbacks carry AUTH_SYS of another user than was offered."},

    // sessions and their reply caches
    {Deviation::session_of_other_client, "session-of-other-client", "RFC8881-2.10.1-1",
     "CREATE_SESSION gives the id of a session that another client has."},
    {Deviation::unbound_connection_refused, "unbound-connection-refused", "RFC8881-2.10.3.1-4",
     "A SEQUENCE over a connection that was never bound is refused."},
    {Deviation::one_session_per_connection, "one-session-per-connection", "RFC8881-2.10.3.1-5",
     "A connection of one session is refused to the next one."},
    {Deviation::second_session_refused, "second-session-refused", "RFC8881-2.10.5-3",
     "A client that has a session gets no second one."},
    {Deviation::lone_sequence_forgotten, "lone-sequence-forgotten", "RFC8881-2.10.6.1.1-1",
     "The reply to a SEQUENCE alone is not cached."},
    {Deviation::failed_sequence_drops_reply, "failed-sequence-drops-reply", "RFC8881-2.10.6.1.2-1",
     "An error of SEQUENCE empties the reply cache of its slot."},
    {Deviation::illegal_retry_uncached, "illegal-retry-uncached", "RFC8881-2.10.6.1.3-3",
     "The retry of an illegal operation gets NFS4ERR_RETRY_UNCACHED_REP."},
    {Deviation::failed_reply_forgotten, "failed-reply-forgotten", "RFC8881-2.10.6.4-3",
     "A reply with an error is not cached, whatever sa_cachethis says."},
    {Deviation::referring_calls_of_others, "referring-calls-of-others", "RFC8881-2.10.6.3-2",
     "Recalls refer to the last request of the first slot too, whatever it was about."},
    {Deviation::control_without_sequence, "control-without-sequence", "RFC8881-18.33.3-1",
     "BACKCHANNEL_CTL succeeds without SEQUENCE."},
    {Deviation::control_program_ignored, "control-program-ignored", "RFC8881-18.33.3-2",
     "BACKCHANNEL_CTL leaves the program number of callbacks."},
    {Deviation::session_operations_beside_others, "session-operations-beside-others",
     "RFC8881-18.36.3-13",
     "EXCHANGE_ID, CREATE_SESSION and DESTROY_SESSION may have others behind them, without "
     "SEQUENCE."},
    {Deviation::create_in_session_forgotten, "create-in-session-forgotten", "RFC8881-18.36.4-2",
     "The reply to a CREATE_SESSION behind SEQUENCE is in no cache of its own."},
    {Deviation::state_ends_with_session, "state-ends-with-session", "RFC8881-18.37.3-4",
     "DESTROY_SESSION closes the files that its client has open."},
    {Deviation::other_session_destroyed_last_only, "other-session-destroyed-last-only",
     "RFC8881-18.37.3-5",
     "DESTROY_SESSION has to be the last operation whichever session it names."},
};

}  // namespace steertag::peer::deviation_rows
