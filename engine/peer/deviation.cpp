// The table of deviations.
#include "peer/deviation.h"

#include <algorithm>
#include <array>

namespace steertag::peer {
namespace {

constexpr DeviationInfo kTable[] = {
    // header
    {Deviation::reply_vers_two, "reply-vers-two", "RFC8166-4.2.2-1",
     "Replies carry 2 in rdma_vers."},
    {Deviation::reply_xid_plus_one, "reply-xid-plus-one", "RFC8166-4.2.1-1",
     "The header of a reply carries the call's XID plus one."},
    {Deviation::reply_xid_byte_swapped, "reply-xid-byte-swapped", "RFC8166-4-1",
     "The header of a reply carries the call's XID in little-endian order."},
    {Deviation::reply_rpc_xid_differs, "reply-rpc-xid-differs", "RFC8166-4.2.1-1",
     "The RPC reply carries another XID than the header before it."},
    {Deviation::reply_record_mark, "reply-record-mark", "RFC8166-3.2-2",
     "A TCP record mark stands before the RPC reply."},
    {Deviation::reply_msgp, "reply-msgp", "RFC8166-4.6.1-1",
     "Inline replies are sent as RDMA_MSGP."},
    {Deviation::reply_then_done, "reply-then-done", "RFC8166-4.6.2-1",
     "An RDMA_DONE follows each reply."},
    {Deviation::replies_twice, "replies-twice", "RFC8166-3.3.1-11",
     "Every reply is sent two times."},
    {Deviation::reply_to_other_call, "reply-to-other-call", "RFC8166-4.2.1-1",
     "While another call is being pulled, a reply carries that call's XID."},

    // errors
    {Deviation::version_discarded, "version-discarded", "RFC8166-4.5.1-1",
     "A call of an unsupported version is discarded."},
    {Deviation::version_executed, "version-executed", "RFC8166-4.5.1-1",
     "A call of any version is executed as version 1."},
    {Deviation::version_error_as_chunk, "version-error-as-chunk", "RFC8166-4.5.1-1",
     "A call of an unsupported version is answered with ERR_CHUNK."},
    {Deviation::version_range_wrong, "version-range-wrong", "RFC8166-4.5.1-1",
     "ERR_VERS names the versions 2 to 3."},
    {Deviation::version_range_swapped, "version-range-swapped", "RFC8166-4.1.2-10",
     "ERR_VERS carries the highest version before the lowest."},
    {Deviation::version_error_own_vers, "version-error-own-vers", "RFC8166-4.5-5",
     "ERR_VERS carries 1 in rdma_vers whatever the call carried."},
    {Deviation::err_chunk_trailing_octets, "err-chunk-trailing-octets", "RFC8166-4.1.2-11",
     "Eight octets follow ERR_CHUNK."},
    {Deviation::err_chunk_wrong_xid, "err-chunk-wrong-xid", "RFC8166-4.5-4",
     "ERR_CHUNK carries XID 0."},
    {Deviation::err_chunk_wrong_proc, "err-chunk-wrong-proc", "RFC8166-4.5-6",
     "ERR_CHUNK is sent with rdma_proc 5."},
    {Deviation::err_chunk_unknown_code, "err-chunk-unknown-code", "RFC8166-4.1.2-9",
     "ERR_CHUNK is sent as error 3."},
    {Deviation::err_chunk_grants_zero, "err-chunk-grants-zero", "RFC8166-3.3.1-5",
     "ERR_CHUNK grants no credit."},
    {Deviation::short_message_answered, "short-message-answered", "RFC8166-4.5-1",
     "A message below 28 octets is answered with ERR_CHUNK."},
    {Deviation::done_answered, "done-answered", "RFC8166-4.6.2-2",
     "RDMA_DONE is answered with ERR_CHUNK."},
    {Deviation::error_answered, "error-answered", "RFC8166-4.2.4-5",
     "RDMA_ERROR is answered with ERR_CHUNK."},
    {Deviation::msgp_discarded, "msgp-discarded", "RFC8166-4.6.1-2", "RDMA_MSGP is discarded."},
    {Deviation::unknown_proc_discarded, "unknown-proc-discarded", "RFC8166-4.5.2-2",
     "A message with an unknown rdma_proc is discarded."},
    {Deviation::unknown_proc_executed, "unknown-proc-executed", "RFC8166-4.5.2-2",
     "A message with an unknown rdma_proc is executed as RDMA_MSG."},
    {Deviation::broken_list_discarded, "broken-list-discarded", "RFC8166-4.5.2-1",
     "A call whose chunk lists do not decode is discarded."},
    {Deviation::broken_list_disconnects, "broken-list-disconnects", "RFC8166-4.5-2",
     "A call whose chunk lists do not decode closes the connection."},
    {Deviation::presence_word_truthy, "presence-word-truthy", "RFC8166-4.5.2-1",
     "Any presence word but 0 counts as 1."},
    {Deviation::position_unaligned_accepted, "position-unaligned-accepted", "RFC8166-4.5.2-1",
     "A read segment's position is rounded down to a multiple of four."},
    {Deviation::nomsg_without_chunk_discarded, "nomsg-without-chunk-discarded", "RFC8166-4.5.2-3",
     "RDMA_NOMSG without any chunk is discarded."},
    {Deviation::xid_mismatch_discarded, "xid-mismatch-discarded", "RFC8166-4.5.2-4",
     "A call whose XIDs differ is discarded."},
    {Deviation::garbage_args_discarded, "garbage-args-discarded", "RFC8166-4.5.2-5",
     "A call whose arguments do not decode is discarded."},
    {Deviation::unsendable_reply_discarded, "unsendable-reply-discarded", "RFC8166-4.5.4-3",
     "A call whose reply fits no form is left without any answer."},
    {Deviation::exits_on_broken_list, "exits-on-broken-list", "RFC8166-4.5-2",
     "A call whose chunk lists do not decode ends the server."},
    {Deviation::hangs_on_broken_list, "hangs-on-broken-list", "RFC8166-4.5-2",
     "After a call whose chunk lists do not decode the server does nothing any more."},

    // credits
    {Deviation::grants_zero, "grants-zero", "RFC8166-3.3.1-5", "Replies grant no credit."},
    {Deviation::grant_without_receives, "grant-without-receives", "RFC8166-3.3.1-9",
     "Only a quarter of the granted credits have a receive."},
    {Deviation::receive_not_reposted, "receive-not-reposted", "RFC8166-3.3.1-9",
     "A receive that carried a discarded message is never posted again."},

    // thresholds and private data
    {Deviation::inline_above_threshold, "inline-above-threshold", "RFC8166-3.5.3-7",
     "Replies of any size are sent inline, reply chunk or not."},
    {Deviation::private_data_aligned_only, "private-data-aligned-only", "RFC8797-5.2-1",
     "Private data is found only at an offset that is a multiple of four."},
    {Deviation::private_data_first_only, "private-data-first-only", "RFC8797-5.2-1",
     "Private data is found only at offset zero."},
    {Deviation::private_data_version_ignored, "private-data-version-ignored", "RFC8797-5.2-3",
     "Private data of any version is taken as version 1."},
    {Deviation::reserved_bits_refused, "reserved-bits-refused", "RFC8797-4-8",
     "Private data with a reserved bit set is ignored."},
    {Deviation::assumes_4096, "assumes-4096", "RFC8797-5.1-1",
     "Without private data both thresholds are taken as 4096 octets."},
    {Deviation::swaps_sizes, "swaps-sizes", "RFC8797-4.2-5",
     "The client's send size is used where its receive size belongs."},
    {Deviation::announces_reserved_bits, "announces-reserved-bits", "RFC8797-4-7",
     "The server's private data has reserved bits set."},
    {Deviation::receives_smaller_than_announced, "receives-smaller-than-announced", "RFC8797-4-10",
     "Receives have 1024 octets whatever was announced."},
    {Deviation::receives_below_1024, "receives-below-1024", "RFC8166-3.3.3-5",
     "Receives have 512 octets."},

    // remote invalidation
    {Deviation::invalidates_unasked, "invalidates-unasked", "RFC8797-4.1-3",
     "Replies use Send with Invalidate though the client cleared R."},
    {Deviation::invalidates_without_own_flag, "invalidates-without-own-flag", "RFC8797-4.1-3",
     "Replies use Send with Invalidate though the server itself cleared R."},
    {Deviation::invalidates_unknown_stag, "invalidates-unknown-stag", "RFC8797-4.1-2",
     "Send with Invalidate names an STag that is in no call."},
    {Deviation::invalidates_earlier_call, "invalidates-earlier-call", "RFC8797-4.1-2",
     "Send with Invalidate names an STag of the call before."},

    // read chunks
    {Deviation::second_read_segment_ignored, "second-read-segment-ignored", "RFC8166-3.4.5-5",
     "Only the first segment of a read chunk is read."},
    {Deviation::read_segments_swapped, "read-segments-swapped", "RFC8166-3.4.5-5",
     "The segments of a read chunk are concatenated in reverse order."},
    {Deviation::read_position_ignored, "read-position-ignored", "RFC8166-4.3.1.1-1",
     "Read chunks are appended to the payload stream whatever their position."},
    {Deviation::read_pad_kept, "read-pad-kept", "RFC8166-3.4.5-5",
     "Roundup inside a read chunk becomes part of the item."},
    {Deviation::reads_after_reply, "reads-after-reply", "RFC8166-3.4.5.1-1",
     "Read chunks are read once more after the reply."},
    {Deviation::reduced_name_accepted, "reduced-name-accepted", "RFC8166-6.1-3",
     "A call with a reduced item that is not eligible is executed."},
    {Deviation::long_call_refused, "long-call-refused", "RFC8166-3.5.3-8",
     "A call in a Position Zero chunk is answered with ERR_CHUNK."},
    {Deviation::read_list_in_reply, "read-list-in-reply", "RFC8166-4.3.1-3",
     "Replies carry the call's read list."},

    // write chunks
    {Deviation::write_list_dropped, "write-list-dropped", "RFC8166-3.4.6-4",
     "Replies carry no write list."},
    {Deviation::write_lengths_kept, "write-lengths-kept", "RFC8166-3.4.6-5",
     "Write chunks are returned with the lengths of the call."},
    {Deviation::write_handle_changed, "write-handle-changed", "RFC8166-3.4.6-4",
     "Write chunks are returned with other handles."},
    {Deviation::write_offset_zeroed, "write-offset-zeroed", "RFC8166-3.4.6-4",
     "Write chunks are returned with offset zero."},
    {Deviation::segments_merged, "segments-merged", "RFC8166-3.4.6-4",
     "Write chunks are returned with their first segment only."},
    {Deviation::pad_written, "pad-written", "RFC8166-3.4.6.2-2",
     "Roundup octets are written into the write chunk."},
    {Deviation::pad_counted, "pad-counted", "RFC8166-3.4.6.2-3",
     "The returned length of a write chunk counts roundup octets."},
    {Deviation::segments_backwards, "segments-backwards", "RFC8166-3.4.6-3",
     "The segments of a write chunk are filled from the last to the first."},
    {Deviation::segments_half_filled, "segments-half-filled", "RFC8166-3.4.6-3",
     "Only half of each segment is used before the next."},
    {Deviation::write_beyond_chunk, "write-beyond-chunk", "RFC8166-3.4.3-1",
     "Four octets behind the last segment are written."},
    {Deviation::writes_after_reply, "writes-after-reply", "RFC8166-2.3.2-3",
     "RDMA Writes follow the reply that announces them."},
    {Deviation::write_chunk_ignored, "write-chunk-ignored", "RFC8166-4.3.2-3",
     "Eligible results are sent inline although a write chunk was offered."},
    {Deviation::unused_write_lengths_kept, "unused-write-lengths-kept", "RFC8166-4.3.2.2-4",
     "An unused write chunk is returned with the lengths of the call."},
    {Deviation::unused_write_dropped, "unused-write-dropped", "RFC8166-4.3.2.2-4",
     "An unused write chunk is not returned."},
    {Deviation::empty_write_chunk_dropped, "empty-write-chunk-dropped", "RFC8166-4.3.2.3-3",
     "An empty write chunk is not returned."},
    {Deviation::small_write_chunk_cut, "small-write-chunk-cut", "RFC8166-3.4.6.2-3",
     "A result that is larger than its write chunk is cut off."},
    {Deviation::reduces_ineligible_result, "reduces-ineligible-result", "RFC8166-3.4.2-2",
     "Results that are not eligible are placed in an offered write chunk."},
    {Deviation::length_word_removed, "length-word-removed", "RFC8166-3.4.4.1-1",
     "The count of a reduced result is removed from the payload stream."},

    // reply chunk
    {Deviation::reply_chunk_dropped, "reply-chunk-dropped", "RFC8166-4.3.3-4",
     "Replies carry no reply chunk."},
    {Deviation::reply_lengths_kept, "reply-lengths-kept", "RFC8166-4.3.3-5",
     "A reply chunk is returned with the lengths of the call."},
    {Deviation::reply_chunk_invented, "reply-chunk-invented", "RFC8166-3.5.3-6",
     "Replies carry a reply chunk that the call did not offer."},
    {Deviation::nomsg_with_payload, "nomsg-with-payload", "RFC8166-3.5.3-2",
     "The payload stream follows RDMA_NOMSG inline too."},
    {Deviation::long_reply_cut, "long-reply-cut", "RFC8166-3.5.3-7",
     "The last four octets of a long reply are not written."},
    {Deviation::long_reply_without_roundup, "long-reply-without-roundup", "RFC8166-3.5.3-9",
     "Roundup is missing from a long reply."},
    {Deviation::small_reply_chunk_overrun, "small-reply-chunk-overrun", "RFC8267-3.1-1",
     "A reply that is larger than its reply chunk is cut off."},

    // data
    {Deviation::read_data_corrupted, "read-data-corrupted", "RFC8267-4-3",
     "The first octet of READ data in a write chunk is inverted."},
    {Deviation::read_halves_swapped, "read-halves-swapped", "RFC8166-3.4.6-3",
     "READ data arrives with the contents of its two segments swapped."},
    {Deviation::write_data_shifted, "write-data-shifted", "RFC8267-4-1",
     "WRITE stores data from a read chunk one octet too far."},

    // plain TCP
    {Deviation::fragments_refused, "fragments-refused", "RFC5531-11-2",
     "A record whose first fragment is not its last closes the connection."},
    {Deviation::records_behind_lost, "records-behind-lost", "RFC5531-11-1",
     "Octets that arrive together with a whole record, behind it, are lost."},
    {Deviation::reply_mark_not_last, "reply-mark-not-last", "RFC5531-11-4",
     "Replies over TCP are marked as if another fragment followed."},
    {Deviation::tcp_results_differ, "tcp-results-differ", "RFC8166-1-1",
     "The last bit of results is inverted over TCP."},

    // sessions of NFS version 4.1
    {Deviation::channel_size_raised, "channel-size-raised", "RFC8881-18.36.3-5",
     "CREATE_SESSION grants a larger ca_maxrequestsize than was asked for."},
    {Deviation::back_channel_slots_changed, "back-channel-slots-changed", "RFC8881-18.36.3-6",
     "CREATE_SESSION lowers ca_maxrequests of the backchannel."},
    {Deviation::back_channel_flag_unasked, "back-channel-flag-unasked", "RFC8881-18.36.3-2",
     "CREATE_SESSION grants a backchannel that nobody asked for."},
    {Deviation::rdma_flag_unasked, "rdma-flag-unasked", "RFC8881-18.36.3-3",
     "CREATE_SESSION grants a step up to RDMA that nobody asked for."},
    {Deviation::granted_slots_missing, "granted-slots-missing", "RFC8881-18.36.3-1",
     "A session has half of the slots that it was granted."},
    {Deviation::too_many_operations_executed, "too-many-operations-executed", "RFC8881-18.36.3-8",
     "A COMPOUND with more operations than granted is executed."},
    {Deviation::large_request_executed, "large-request-executed", "RFC8881-2.10.6.4-1",
     "A request above ca_maxrequestsize is executed."},
    {Deviation::large_response_sent, "large-response-sent", "RFC8267-6.2.2-1",
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
    {Deviation::uncached_retry_fails_sequence, "uncached-retry-fails-sequence",
     "RFC8881-2.10.6.1.3-2",
     "The retry of an uncached request gets NFS4ERR_RETRY_UNCACHED_REP for SEQUENCE."},
    {Deviation::retry_of_other_user_answered, "retry-of-other-user-answered",
     "RFC8881-2.10.6.1.3.1-1", "Another user's retry gets the cached reply."},
    {Deviation::sequence_names_slot_zero, "sequence-names-slot-zero", "RFC8881-18.46.3-3",
     "The result of SEQUENCE names slot 0 whatever was used."},
    {Deviation::highest_slot_lowered, "highest-slot-lowered", "RFC8881-2.10.6.1-5",
     "SEQUENCE enforces slot 0 as the highest."},
    {Deviation::bad_slot_misordered, "bad-slot-misordered", "RFC8881-15.1.11.2-1",
     "A slot that is not there gets NFS4ERR_SEQ_MISORDERED."},
    {Deviation::high_slot_refused, "high-slot-refused", "RFC8881-15.1.11.3-1",
     "A highest slot above the request's own gets NFS4ERR_BAD_HIGH_SLOT."},
    {Deviation::sequence_anywhere, "sequence-anywhere", "RFC8881-18.46.3-4",
     "SEQUENCE is executed at any place of a COMPOUND."},
    {Deviation::bind_direction_ignored, "bind-direction-ignored", "RFC8881-18.34.3-2",
     "A connection that is bound to the fore channel gets both."},
    {Deviation::bind_beside_others, "bind-beside-others", "RFC8881-15.1.3.3-1",
     "BIND_CONN_TO_SESSION is executed beside other operations."},
    {Deviation::bind_changes_granted, "bind-changes-granted", "RFC8881-18.34.3-4",
     "A connection of the session gets whatever channels are asked for."},
    {Deviation::rdma_mode_claimed, "rdma-mode-claimed", "RFC8881-18.34.3-3",
     "BIND_CONN_TO_SESSION claims RDMA mode unasked."},
    {Deviation::second_connection_refused, "second-connection-refused", "RFC8881-2.10.5-1",
     "A session takes no second connection."},
    {Deviation::other_transport_refused, "other-transport-refused", "RFC8881-2.10.3.1-1",
     "A session takes no connection over TCP."},
    {Deviation::replay_ignores_chunk, "replay-ignores-chunk", "RFC8881-2.10.6.2-3",
     "A cached result does not go to the write chunk of the retry."},
    {Deviation::empty_send_disconnects, "empty-send-disconnects", "RFC8881-20.8.3-2",
     "A Send without an octet ends the connection."},
    {Deviation::path_down_untold, "path-down-untold", "RFC8881-2.10.13.2.4-2",
     "SEQUENCE never says that the path of callbacks is down."},
    {Deviation::session_path_down_untold, "session-path-down-untold", "RFC8881-2.10.6.2-5",
     "SEQUENCE never says that the session's path of callbacks is down."},
    {Deviation::path_flags_stay, "path-flags-stay", "RFC8881-18.46.3-1",
     "Flags on the path of callbacks stay when it is up again."},

    // callbacks
    {Deviation::callback_unannounced, "callback-unannounced", "RFC8167-6-1",
     "A session without a backchannel is called back."},
    {Deviation::callback_vers_two, "callback-vers-two", "RFC8167-5.1-2",
     "Callbacks carry 2 in rdma_vers."},
    {Deviation::callback_xid_differs, "callback-xid-differs", "RFC8167-5.1-3",
     "The header of a callback carries another XID than its RPC call."},
    {Deviation::callback_asks_no_credit, "callback-asks-no-credit", "RFC8167-5.1-1",
     "Callbacks ask for no credit."},
    {Deviation::callback_with_chunk, "callback-with-chunk", "RFC8267-6.5.2-3",
     "Callbacks offer a write chunk."},
    {Deviation::callback_above_threshold, "callback-above-threshold", "RFC8167-4.2-1",
     "Recalls are larger than the client's receives."},
    {Deviation::callbacks_above_grant, "callbacks-above-grant", "RFC8167-4.1-2",
     "More callbacks are under way than the client grants."},
    {Deviation::any_message_grants_callbacks, "any-message-grants-callbacks", "RFC8167-4.1-5",
     "The credit word of a message without a direction grants callbacks."},
    {Deviation::forward_calls_wait_for_callback, "forward-calls-wait-for-callback", "RFC8167-4.1-1",
     "Forward calls wait while a callback has no reply."},
    {Deviation::equal_xids_confused, "equal-xids-confused", "RFC8167-2.4.1-1",
     "A forward call is taken for the reply to the callback with the same XID."},
    {Deviation::unknown_reply_disconnects, "unknown-reply-disconnects", "RFC8167-2.4-1",
     "A reply that no callback waits for ends the connection."},
    {Deviation::reply_rpc_xid_alone, "reply-rpc-xid-alone", "RFC8166-4.5-3",
     "A reply to a callback is matched by the XID of its RPC message alone."},
    {Deviation::reply_version_ignored, "reply-version-ignored", "RFC8166-4.5-3",
     "A reply to a callback is taken in any version."},
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

    // forms of replies
    {Deviation::offsets_truncated, "offsets-truncated", "RFC8166-2.3.2-1",
     "Only the low 32 bits of a segment's offset are used."},
    {Deviation::long_reply_refused, "long-reply-refused", "RFC8166-3.5.3-1",
     "A reply that does not fit inline is answered with ERR_CHUNK, reply chunk or not."},
    {Deviation::count_word_in_chunk, "count-word-in-chunk", "RFC8166-3.4.4.4-1",
     "The count word of a reduced result is moved into its write chunk too."},
    {Deviation::roundup_left_inline, "roundup-left-inline", "RFC8166-3.4.4.4-2",
     "The roundup of a reduced result stays in the payload stream."},
    {Deviation::item_tail_left_inline, "item-tail-left-inline", "RFC8166-3.4.4.1-2",
     "The last four octets of a reduced result stay in the payload stream."},
    {Deviation::empty_chunk_swallows_result, "empty-chunk-swallows-result", "RFC8166-4.3.2.3-2",
     "A result whose write chunk is empty is left out."},
    {Deviation::nomsg_without_call_discarded, "nomsg-without-call-discarded", "RFC8166-4.2.4-8",
     "RDMA_NOMSG whose chunks hold no RPC call is discarded."},
    {Deviation::reduced_name_discarded, "reduced-name-discarded", "RFC8166-6.1-4",
     "A call with a reduced item that is not eligible is discarded."},
    {Deviation::auth_none_refused, "auth-none-refused", "RFC5531-10-1",
     "Calls with AUTH_NONE are denied."},
    {Deviation::mount_not_over_tcp, "mount-not-over-tcp", "RFC8267-5.1-1",
     "A call of MOUNT over TCP closes the connection."},
    {Deviation::version_four_not_over_tcp, "version-four-not-over-tcp", "RFC8881-2.9.1-1",
     "NFS version 4 is not offered over TCP."},

    // requests of a session
    {Deviation::repeated_request_discarded, "repeated-request-discarded", "RFC8881-2.9.2-3",
     "A request that came before under its sequence ID is discarded."},
    {Deviation::replay_under_first_xid, "replay-under-first-xid", "RFC8881-2.10.6.1-3",
     "The reply to a retry carries the XID of the request."},
    {Deviation::uncached_retry_misordered, "uncached-retry-misordered", "RFC8881-2.10.6.1.3-1",
     "The retry of an uncached request gets NFS4ERR_SEQ_MISORDERED."},
    {Deviation::lost_reply_sent_later, "lost-reply-sent-later", "RFC8881-2.9.2-5",
     "The last reply of a connection that was lost is sent on the next one."},
    {Deviation::reply_on_first_connection, "reply-on-first-connection", "RFC8881-2.9.2-4",
     "All replies of a session are sent on the connection that used it first."},
    {Deviation::session_in_records, "session-in-records", "RFC8881-18.36.3-4",
     "Over RDMA too, replies to all but a slot's first request carry the record mark of TCP."},

    // calls of the server
    {Deviation::callback_with_read_chunk, "callback-with-read-chunk", "RFC8267-6.5.2-6",
     "Recalls have a read chunk, whatever their size."},

    // calls that need care
    {Deviation::failed_call_disconnects, "failed-call-disconnects", "RFC8166-4.5.3-4",
     "The retry of a call over which a connection was lost ends the next one too."},
    {Deviation::huge_call_discarded, "huge-call-discarded", "RFC8166-8.1.4-1",
     "A call with more octets in read chunks than are taken is discarded."},
    {Deviation::complex_call_discarded, "complex-call-discarded", "RFC8267-6.4.2-1",
     "A call with more chunks or segments than are taken is discarded."},
    {Deviation::second_program_disconnects, "second-program-disconnects", "RFC8166-6.3-2",
     "A call of another program than the connection's first ends the connection."},
    {Deviation::connections_short_lived, "connections-short-lived", "RFC8881-2.9.2-1",
     "A connection ends with its fiftieth request of a session."},
    {Deviation::grants_count_down, "grants-count-down", "RFC8166-3.3.1-7",
     "Each reply grants one credit less than the one before it, down to one."},

    // errors of RPC
    {Deviation::reply_executed, "reply-executed", "RFC5531-9-2",
     "A message of the type REPLY is executed as a call."},
    {Deviation::long_credential_executed, "long-credential-executed", "RFC5531-8.2-1",
     "A call is executed whose credential is longer than 400 octets."},
    {Deviation::long_auth_sys_refused, "long-auth-sys-refused", "RFC5531-A-1",
     "AUTH_SYS of more than 128 octets is denied."},
    {Deviation::unknown_procedure_as_garbage, "unknown-procedure-as-garbage", "RFC5531-9-6",
     "A procedure that is not there gets GARBAGE_ARGS."},
    {Deviation::auth_error_without_reason, "auth-error-without-reason", "RFC5531-9-8",
     "AUTH_ERROR gives AUTH_OK as the reason."},
    {Deviation::error_reply_longer, "error-reply-longer", "RFC5531-9-9",
     "Four octets follow GARBAGE_ARGS."},

    // private data of the server
    {Deviation::private_data_byte_swapped, "private-data-byte-swapped", "RFC8797-4-5",
     "The identifier of the private data is in little-endian order."},
    {Deviation::announces_version_two, "announces-version-two", "RFC8797-8-1",
     "Private data has version 2."},

    // channels of a session
    {Deviation::session_padded, "session-padded", "RFC8881-2.10.7.3-1",
     "Replies to requests of a session are sent as RDMA_MSGP."},
    {Deviation::replay_grants_nothing, "replay-grants-nothing", "RFC8881-2.9.2-7",
     "The reply to a retry grants no credit."},
    {Deviation::callback_of_other_user, "callback-of-other-user", "RFC8167-8-1",
     "Callbacks carry AUTH_SYS of another user than was offered."},
    {Deviation::version_zero_called_back, "version-zero-called-back", "RFC8267-6.5.1-1",
     "A client of NFS version 4.0 is called back on its own connection."},

    // below messages
    {Deviation::startup_key_ignored, "startup-key-ignored", "RFC5044-7.1.1-1",
     "Any MPA key counts as that of a request."},
    {Deviation::plain_reply, "plain-reply", "RFC6581-10-1",
     "An enhanced MPA request gets a reply of revision 1."},
    {Deviation::enhanced_reply_revision_one, "enhanced-reply-revision-one", "RFC6581-6-1",
     "An enhanced MPA reply says that it has revision 1."},
    {Deviation::reserved_startup_bits_set, "reserved-startup-bits-set", "RFC5044-7.1.1-2",
     "Reserved bits of the MPA reply are set."},
    {Deviation::reply_depth_raised, "reply-depth-raised", "RFC6581-9.1-1",
     "The ORD of the MPA reply is above the IRD of the request."},
    {Deviation::reply_depths_invented, "reply-depths-invented", "RFC6581-9.1-2",
     "Depths that are not to be negotiated are answered with others."},
    {Deviation::peer_to_peer_unanswered, "peer-to-peer-unanswered", "RFC6581-9.2-1",
     "The MPA reply does not have the request's A."},
    {Deviation::stray_rtr_flag, "stray-rtr-flag", "RFC6581-9.2-2",
     "The MPA reply offers an RTR although the request has no A."},
    {Deviation::markers_left_out, "markers-left-out", "RFC5044-4.3-1",
     "A request for markers is accepted, and none are inserted."},
    {Deviation::crc_left_out, "crc-left-out", "RFC5044-4.4-1",
     "Without C in the request there is no CRC, although the reply has C."},
    {Deviation::crc_unchecked, "crc-unchecked", "RFC5044-8-1", "FPDUs with a wrong CRC are taken."},
    {Deviation::control_unchecked, "control-unchecked", "RFC5040-4.1-1",
     "Segments of any RDMAP version and opcode are taken for Sends."},
    {Deviation::sequence_unchecked, "sequence-unchecked", "RFC5041-7.1-1",
     "Sends with any MSN are taken."},
    {Deviation::solicited_send_refused, "solicited-send-refused", "RFC5040-5.3-1",
     "Send with Solicited Event is an unexpected opcode."},
    {Deviation::invalidation_unchecked, "invalidation-unchecked", "RFC5040-5.3-2",
     "Send with Invalidate may name any STag."},
    {Deviation::empty_write_checked, "empty-write-checked", "RFC5041-5.2-1",
     "The STag of an RDMA Write without octets is checked."},
    {Deviation::empty_read_unanswered, "empty-read-unanswered", "RFC5040-5.2.1-1",
     "Read Requests for no octets are not answered."},
    {Deviation::refused_read_answered, "refused-read-answered", "RFC5040-7.2-1",
     "Read Requests for memory that is not open are answered with zeros."},
    {Deviation::read_depth_ignored, "read-depth-ignored", "RFC5040-6.1-1",
     "More Read Requests are under way than the client takes."},
    {Deviation::terminate_code_wrong, "terminate-code-wrong", "RFC5041-7.2-1",
     "Terminates of DDP errors give other codes."},

    // results of COMPOUND
    {Deviation::write_chunks_shifted, "write-chunks-shifted", "RFC8267-6.4.1-3",
     "The first of several write chunks is passed over."},
    {Deviation::empty_chunk_passed_over, "empty-chunk-passed-over", "RFC8267-6.4.1-5",
     "An empty write chunk uses up no result."},
    {Deviation::results_beyond_list_refused, "results-beyond-list-refused", "RFC8267-6.4.1-7",
     "A COMPOUND with more results than write chunks is answered with ERR_CHUNK."},
    {Deviation::second_write_chunk_ignored, "second-write-chunk-ignored", "RFC8267-6.4.1-4",
     "Only the first write chunk is used."},
    {Deviation::sixteen_segments_refused, "sixteen-segments-refused", "RFC8267-6.4.2-5",
     "A write chunk or reply chunk of sixteen segments is answered with ERR_CHUNK."},
    {Deviation::second_read_chunk_refused, "second-read-chunk-refused", "RFC8267-6.1-1",
     "A call with two read chunks is answered with ERR_CHUNK."},

    // calls and replies that other servers are known to have met wrong
    {Deviation::write_list_beside_reply_chunk_refused, "write-list-beside-reply-chunk-refused",
     "RFC8166-3.4.4.1-1", "A call with a write list and a reply chunk is answered with ERR_CHUNK."},
    {Deviation::large_reply_chunk_exits, "large-reply-chunk-exits", "RFC8166-4.3.3-4",
     "A reply chunk above one mebibyte ends the server."},
    {Deviation::large_pull_discarded, "large-pull-discarded", "RFC8166-3.4.4-1",
     "A call with more than 1200 octets, of which some are in read chunks, is discarded."},
    {Deviation::rpc_version_executed, "rpc-version-executed", "RFC5531-9-3",
     "A call of any RPC version is executed as version 2."},
    {Deviation::program_versions_wrong, "program-versions-wrong", "RFC5531-9-5",
     "PROG_MISMATCH names versions that the program does not have."},
    {Deviation::rpc_error_without_header, "rpc-error-without-header", "RFC5531-9-4",
     "A reply that reports an error of RPC has no transport header."},
    {Deviation::recall_without_referring_call, "recall-without-referring-call",
     "RFC8881-2.10.6.3-1",
     "A recall names no referring call although the grant may not have been seen."},
    {Deviation::gss_over_rdma_only, "gss-over-rdma-only", "RFC8166-8.2.2.1-1",
     "RPCSEC_GSS is known over RDMA, but not over TCP, where contexts are made."},

    // of the client
    {Deviation::takes_any_version, "takes-any-version", "RFC8166-4.5-3",
     "A reply of any version is taken for one of version 1.", trace::Role::client},
    {Deviation::takes_any_procedure, "takes-any-procedure", "RFC8166-4.5-3",
     "A reply with an unknown procedure is taken for RDMA_MSG.", trace::Role::client},
    {Deviation::broken_list_fails_call, "broken-list-fails-call", "RFC8166-4.5-3",
     "A reply whose lists do not decode fails its call.", trace::Role::client},
    {Deviation::discarded_grant_used, "discarded-grant-used", "RFC8166-3.3.3-4",
     "The grant of a message that does not decode counts.", trace::Role::client},
    {Deviation::short_reply_fails_call, "short-reply-fails-call", "RFC8166-4.5-1",
     "A message of less than 28 octets fails the call of its first word.", trace::Role::client},
    {Deviation::msgp_taken, "msgp-taken", "RFC8166-4.6.1-3", "RDMA_MSGP is taken for a reply.",
     trace::Role::client},
    {Deviation::done_ends_call, "done-ends-call", "RFC8166-4.6.2-2",
     "RDMA_DONE fails the call of its XID.", trace::Role::client},
    {Deviation::undecodable_error_fails_call, "undecodable-error-fails-call", "RFC8166-4.5-9",
     "An RDMA_ERROR that does not decode fails its call.", trace::Role::client},
    {Deviation::error_ignored, "error-ignored", "RFC8166-4.5-8", "RDMA_ERROR is discarded.",
     trace::Role::client},
    {Deviation::error_fails_any_call, "error-fails-any-call", "RFC8166-4.5-8",
     "RDMA_ERROR with an unknown XID fails the oldest call.", trace::Role::client},
    {Deviation::error_resent, "error-resent", "RFC8267-6.4.2-8",
     "A call that was answered with RDMA_ERROR is sent again.", trace::Role::client},
    {Deviation::error_retried_for_ever, "error-retried-for-ever", "RFC8267-3.1-4",
     "After RDMA_ERROR the call is made anew, without limit.", trace::Role::client},
    {Deviation::bad_reply_answered, "bad-reply-answered", "RFC8166-4.2.4-4",
     "A reply with an error in its header is answered with RDMA_ERROR.", trace::Role::client},
    {Deviation::done_sent, "done-sent", "RFC8166-4.6.2-1",
     "RDMA_DONE follows each reply to a call with a read chunk.", trace::Role::client},
    {Deviation::any_xid_taken, "any-xid-taken", "RFC8167-2.4-1",
     "A reply with an unknown XID is taken for the oldest call.", trace::Role::client},
    {Deviation::second_reply_aborts, "second-reply-aborts", "RFC8167-2.4-1",
     "The program ends at a reply that no call waits for.", trace::Role::client},
    {Deviation::reverse_call_taken, "reverse-call-taken", "RFC8167-2.4.1-1",
     "A call of the other direction is taken for the reply to the call with its XID.",
     trace::Role::client},
    {Deviation::reverse_credit_taken, "reverse-credit-taken", "RFC8167-4.1-1",
     "The credit word of a call of the other direction counts as grant.", trace::Role::client},
    {Deviation::grant_ignored, "grant-ignored", "RFC8166-3.3.1-4",
     "As many calls are under way as were asked for, whatever is granted.", trace::Role::client},
    {Deviation::several_calls_at_first, "several-calls-at-first", "RFC8166-3.3.3-3",
     "A new connection starts with the grant of the one before it.", trace::Role::client},
    {Deviation::invalid_reply_opens_window, "invalid-reply-opens-window", "RFC8166-3.3.3-4",
     "After any first message there is a credit more.", trace::Role::client},
    {Deviation::asks_for_no_credits, "asks-for-no-credits", "RFC8166-3.3.1-1",
     "Calls carry 0 in rdma_credit.", trace::Role::client},
    {Deviation::few_receives, "few-receives", "RFC8166-3.3.1-10",
     "Eight receives are posted, and again only when no call is under way.", trace::Role::client},
    {Deviation::returned_length_ignored, "returned-length-ignored", "RFC8166-3.4.6.1-1",
     "A write chunk counts as filled, whatever length comes back.", trace::Role::client},
    {Deviation::inline_result_taken, "inline-result-taken", "RFC8166-6.1-6",
     "A result that came inline despite its write chunk is taken.", trace::Role::client},
    {Deviation::memory_left_open, "memory-left-open", "RFC8166-8.1-1",
     "Memory stays open to the server after the reply.", trace::Role::client},
    {Deviation::memory_open_both_ways, "memory-open-both-ways", "RFC8166-8.1-1",
     "What the server is to write it can read too.", trace::Role::client},
    {Deviation::memory_open_after_error, "memory-open-after-error", "RFC8166-4.4.1-2",
     "Memory stays open to the server after RDMA_ERROR.", trace::Role::client},
    {Deviation::missing_private_data_ignored, "missing-private-data-ignored", "RFC8797-5.1-1",
     "A server without private data is taken to have announced what we have.", trace::Role::client},
    {Deviation::thresholds_kept, "thresholds-kept", "RFC8797-4-1",
     "The thresholds of the first connection stay for all others.", trace::Role::client},
    {Deviation::resent_as_new_request, "resent-as-new-request", "RFC8267-6.7.2-3",
     "A request that is sent again on another connection has the next sequence id of its slot.",
     trace::Role::client},
    {Deviation::connects_for_ever, "connects-for-ever", "RFC8166-4.5.5-1",
     "The number of connections for one call has no limit.", trace::Role::client},

    // answers of the client to calls of the server
    {Deviation::reverse_answer_vers_two, "reverse-answer-vers-two", "RFC8167-5.2-2",
     "Calls of the other direction are answered with 2 in rdma_vers.", trace::Role::client},
    {Deviation::reverse_answer_other_xid, "reverse-answer-other-xid", "RFC8167-5.2-3",
     "The RPC reply to a call of the other direction has another XID than its header.",
     trace::Role::client},
    {Deviation::reverse_answer_type_call, "reverse-answer-type-call", "RFC8167-5.2-4",
     "The answer to a call of the other direction has the message type CALL.", trace::Role::client},
    {Deviation::reverse_chunks_unanswered, "reverse-chunks-unanswered", "RFC8167-5.3-3",
     "Of the calls of the other direction those with chunks are not answered.",
     trace::Role::client},

    // chunks of the client
    {Deviation::position_in_message, "position-in-message", "RFC8166-3.4.5-2",
     "With thresholds of 1024 octets positions count from the start of the Send.",
     trace::Role::client},
    {Deviation::position_unaligned, "position-unaligned", "RFC8166-3.4.5-3",
     "The position of an item that needs roundup is one too high.", trace::Role::client},
    {Deviation::read_chunk_short, "read-chunk-short", "RFC8166-3.4.5.2-4",
     "The read chunk of an item that needs roundup lacks the item's last octet.",
     trace::Role::client},
    {Deviation::roundup_counted, "roundup-counted", "RFC8166-3.4.5.2-2",
     "The roundup in a read chunk is counted in the item's length word.", trace::Role::client},
    {Deviation::long_call_position_four, "long-call-position-four", "RFC8166-3.5.3-3",
     "The last segment of a long call has position four.", trace::Role::client},
    {Deviation::write_chunk_rounded_down, "write-chunk-rounded-down", "RFC8166-3.4.6-2",
     "Write chunks are rounded down to a multiple of four octets.", trace::Role::client},
    {Deviation::unused_chunk_offered_again, "unused-chunk-offered-again", "RFC8166-4.3.2.2-3",
     "After an unused write chunk the next one has its lengths, which are zero.",
     trace::Role::client},
    {Deviation::reply_chunk_missing, "reply-chunk-missing", "RFC8166-4.3.3-1",
     "No reply chunk is offered, however large the reply may be.", trace::Role::client},
    {Deviation::reduced_ineligible_taken, "reduced-ineligible-taken", "RFC8166-6.1-5",
     "What a write chunk holds beside an empty result is overlooked.", trace::Role::client},
};
constexpr std::size_t kCount = std::size(kTable);
static_assert(kCount <= Deviations::kMost);

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kTable[i].deviation != static_cast<Deviation>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "the table has the order of the enumeration");

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kProposals = 3;

/// Edits (insertions, deletions, replacements) between two names; names are cut at kLongestName.
std::size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  std::array<std::size_t, kLongestName + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const DeviationInfo> deviations(trace::Role side) {
  const std::span<const DeviationInfo> all = kTable;
  const auto border = std::ranges::find(all, trace::Role::client, &DeviationInfo::side);
  const auto servers = static_cast<std::size_t>(border - all.begin());
  return side == trace::Role::server ? all.first(servers) : all.subspan(servers);
}

const DeviationInfo& info(Deviation deviation) {
  return kTable[static_cast<std::size_t>(deviation)];
}

std::optional<Deviation> find_deviation(std::string_view name, trace::Role side) {
  for (const DeviationInfo& row : deviations(side)) {
    if (row.name == name) return row.deviation;
  }
  return std::nullopt;
}

std::vector<std::string_view> nearest_deviations(std::string_view name, trace::Role side,
                                                 std::size_t most) {
  std::vector<std::string_view> names;
  for (const DeviationInfo& row : deviations(side)) names.push_back(row.name);
  std::stable_sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return distance(name, a) < distance(name, b);
  });
  names.resize(std::min(most, names.size()));
  return names;
}

Expected<void, std::string> Deviations::add(std::string_view name, trace::Role side) {
  if (const auto found = find_deviation(name, side)) {
    add(*found);
    return {};
  }
  std::string text = "there is no deviation '" + std::string(name) + "'; the nearest are";
  const char* separator = " ";
  for (const std::string_view near : nearest_deviations(name, side, kProposals)) {
    text += separator;
    text += near;
    separator = ", ";
  }
  return tl::unexpected(std::move(text));
}

}  // namespace steertag::peer
