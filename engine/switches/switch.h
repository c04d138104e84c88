// Deviations: named defects of the reference peer. Each breaks one requirement, and exists so that
// the suites can prove that they notice.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/expected.h"
#include "trace/event.h"

namespace steertag::peer {

enum class Deviation : std::uint16_t {
  // header
  reply_to_other_call,

  // errors
  version_discarded,
  version_executed,
  version_error_as_chunk,
  short_message_answered,
  done_answered,
  error_answered,
  msgp_discarded,
  unknown_proc_discarded,
  unknown_proc_executed,
  broken_list_discarded,
  broken_list_disconnects,
  presence_word_truthy,
  position_unaligned_accepted,
  nomsg_without_chunk_discarded,
  xid_mismatch_discarded,
  garbage_args_discarded,
  unsendable_reply_discarded,
  exits_on_broken_list,
  hangs_on_broken_list,

  // credits
  grant_without_receives,
  receive_not_reposted,

  // thresholds and private data
  inline_above_threshold,
  private_data_aligned_only,
  private_data_first_only,
  private_data_version_ignored,
  reserved_bits_refused,
  assumes_4096,
  swaps_sizes,
  announces_reserved_bits,
  receives_smaller_than_announced,
  receives_below_1024,

  // remote invalidation
  invalidates_unasked,
  invalidates_without_own_flag,
  invalidates_unknown_stag,
  invalidates_earlier_call,

  // read chunks
  second_read_segment_ignored,
  read_segments_swapped,
  read_position_ignored,
  read_pad_kept,
  reads_after_reply,
  reduced_name_accepted,
  long_call_refused,
  read_list_in_reply,

  // write chunks
  write_list_dropped,
  write_lengths_kept,
  write_handle_changed,
  write_offset_zeroed,
  segments_merged,
  pad_written,
  pad_counted,
  segments_backwards,
  segments_half_filled,
  write_beyond_chunk,
  writes_after_reply,
  write_chunk_ignored,
  unused_write_lengths_kept,
  unused_write_dropped,
  empty_write_chunk_dropped,
  small_write_chunk_cut,
  reduces_ineligible_result,
  length_word_removed,

  // reply chunk
  reply_chunk_dropped,
  reply_lengths_kept,
  reply_chunk_invented,
  nomsg_with_payload,
  long_reply_cut,
  long_reply_without_roundup,
  small_reply_chunk_overrun,

  // data
  read_data_corrupted,
  read_halves_swapped,
  write_data_shifted,

  // plain TCP
  fragments_refused,
  records_behind_lost,
  reply_mark_not_last,
  tcp_results_differ,

  // forms of replies
  offsets_truncated,
  long_reply_refused,
  count_word_in_chunk,
  roundup_left_inline,
  item_tail_left_inline,
  empty_chunk_swallows_result,
  nomsg_without_call_discarded,
  reduced_name_discarded,
  auth_none_refused,
  mount_not_over_tcp,
  version_four_not_over_tcp,

  // calls that need care
  failed_call_disconnects,
  huge_call_discarded,
  complex_call_discarded,
  second_program_disconnects,
  connections_short_lived,
  grants_count_down,

  // errors of RPC
  reply_executed,
  long_credential_executed,
  long_auth_sys_refused,
  unknown_procedure_as_garbage,
  auth_error_without_reason,
  error_reply_longer,

  // private data of the server
  private_data_byte_swapped,
  announces_version_two,

  // below messages
  startup_key_ignored,
  plain_reply,
  enhanced_reply_revision_one,
  reserved_startup_bits_set,
  reply_depth_raised,
  reply_depths_invented,
  peer_to_peer_unanswered,
  stray_rtr_flag,
  markers_left_out,
  crc_left_out,
  crc_unchecked,
  control_unchecked,
  sequence_unchecked,
  solicited_send_refused,
  invalidation_unchecked,
  empty_write_checked,
  empty_read_unanswered,
  refused_read_answered,
  read_depth_ignored,
  terminate_code_wrong,
  reserved_segment_bits_set,
  reserved_control_bits_set,
  tagged_offset_stays,
  send_sequence_from_zero,
  pad_not_zero,
  crc_big_endian,
  read_request_long,
  read_response_elsewhere,
  terminate_as_send,
  startup_words_last,
  sends_before_first_fpdu,

  // calls and replies that other servers are known to have met wrong
  write_list_beside_reply_chunk_refused,
  large_reply_chunk_exits,
  large_pull_discarded,
  rpc_version_executed,
  program_versions_wrong,
  rpc_error_without_header,
  recall_without_referring_call,
  gss_over_rdma_only,
  gss_token_in_chunk_taken,

  // sessions of NFS version 4.1
  granted_slots_missing,
  too_many_operations_executed,
  large_request_executed,
  large_response_sent,
  transport_header_counted,
  large_reply_cached,
  misordered_sequence_executed,
  failed_sequence_moves_slot,
  retry_executed,
  cached_reply_forgotten,
  retry_of_other_user_answered,
  sequence_anywhere,
  bind_beside_others,
  bind_changes_granted,
  second_connection_refused,
  replay_ignores_chunk,
  empty_send_disconnects,
  path_flags_stay,

  // callbacks
  callback_unannounced,
  callback_vers_two,
  callback_xid_differs,
  callback_asks_no_credit,
  callback_with_chunk,
  callback_above_threshold,
  callbacks_above_grant,
  any_message_grants_callbacks,
  forward_calls_wait_for_callback,
  equal_xids_confused,
  unknown_reply_disconnects,
  reply_rpc_xid_alone,
  reply_version_ignored,
  callback_program_wrong,
  callback_credential_unoffered,
  recall_without_sequence,
  callback_sequence_skips,
  recall_names_other_stateid,
  lost_recall_not_repeated,
  lost_recall_renumbered,

  // requests of a session
  repeated_request_discarded,
  replay_under_first_xid,
  lost_reply_sent_later,
  reply_on_first_connection,
  session_in_records,

  // calls of the server
  callback_with_read_chunk,

  // channels of a session
  session_padded,
  replay_grants_nothing,
  callback_of_other_user,
  version_zero_called_back,

  // results of COMPOUND
  write_chunks_shifted,
  empty_chunk_passed_over,
  results_beyond_list_refused,
  second_write_chunk_ignored,
  sixteen_segments_refused,
  second_read_chunk_refused,

  // sessions and their reply caches
  session_of_other_client,
  unbound_connection_refused,
  one_session_per_connection,
  second_session_refused,
  lone_sequence_forgotten,
  failed_sequence_drops_reply,
  illegal_retry_uncached,
  failed_reply_forgotten,
  referring_calls_of_others,
  control_without_sequence,
  control_program_ignored,
  session_operations_beside_others,
  create_in_session_forgotten,
  state_ends_with_session,
  other_session_destroyed_last_only,

  // connections
  lost_connection_hangs,
  first_announcement_kept,

  // of the client
  takes_any_version,
  takes_any_procedure,
  broken_list_fails_call,
  discarded_grant_used,
  short_reply_fails_call,
  msgp_taken,
  done_ends_call,
  undecodable_error_fails_call,
  error_ignored,
  error_fails_any_call,
  error_resent,
  error_retried_for_ever,
  bad_reply_answered,
  done_sent,
  any_xid_taken,
  second_reply_aborts,
  reverse_call_taken,
  reverse_credit_taken,
  grant_ignored,
  several_calls_at_first,
  invalid_reply_opens_window,
  asks_for_no_credits,
  few_receives,
  returned_length_ignored,
  inline_result_taken,
  memory_left_open,
  memory_open_both_ways,
  memory_open_after_error,
  missing_private_data_ignored,
  thresholds_kept,
  resent_as_new_request,
  gives_up_after_loss,

  // answers of the client to calls of the server
  reverse_answer_vers_two,
  reverse_answer_other_xid,
  reverse_answer_type_call,
  reverse_chunks_unanswered,

  // chunks of the client
  position_in_message,
  position_unaligned,
  read_chunk_short,
  roundup_counted,
  long_call_position_four,
  write_chunk_rounded_down,
  unused_chunk_offered_again,
  reply_chunk_missing,
  reduced_ineligible_taken,

  // the client's backchannel
  callback_ident_refused,
  callback_retry_executed,
  callback_retry_refused,
  misordered_callback_executed,
  path_down_ignored,
  lost_back_channel_not_bound,
  bind_not_alone,
  slot_recall_ignored,
  idle_connection_closed,

  // slots, receives and thresholds of the client
  request_sent_twice,
  overtaken_read_given_up,
  slot_taken_twice,
  sequence_id_skipped,
  receives_for_replies_only,
  few_receives_after_reconnect,
  receives_come_with_session,
  server_receive_size_ignored,
  format_at_offset_zero_only,
  reserved_bits_heeded,
  chunk_lists_uncounted,
  undirected_credit_taken,
  returned_segments_ignored,
  callback_security_untold,
  back_channel_fault_ignored,
  unknown_referring_call_delayed,
  referring_call_awaited,
  first_callback_any_number,
  callback_operations_unlimited,
  second_callback_sequence_invalid,
  callback_without_sequence_executed,
  bad_callback_slot_misordered,
  other_session_callback_executed,
  kept_callback_reply_forgotten,
  callback_error_drops_reply,
  callback_highest_slot_low,
  illegal_callback_retry_uncached,

  // the client's session
  sequence_behind_others,
  slots_beyond_granted,
  highest_slot_understated,
  handle_asked_apart,
  handle_asked_late,
  create_retry_renumbered,
  operation_behind_destroy,
  destroyed_over_any_connection,
  // what the client's calls bring and ask for
  two_read_chunks,
  two_write_chunks,
  seventeen_segments,
  read_chunk_needless,
  write_chunk_needless,
  reply_chunk_needless,
  roundup_in_read_chunk,
  write_chunk_rounded_up,
  long_call_with_octets,
  read_chunk_closed_early,
  error_retried_larger,
  no_credit_in_reserve,
  announces_small_sends,
  callback_replies_too_long,
  long_callbacks_promised,

  // the form of the client's messages
  call_xid_differs,
  call_vers_two,
  call_msgp,
  call_presence_word_swapped,
  call_segment_wraps,
  call_count_word_zero,
  call_chunk_beyond_item,
  call_roundup_left_inline,
  long_call_cut,
  long_call_elsewhere,
  client_receives_below_1024,
  client_announces_reserved_bits,
  reply_startup_key_ignored,
};

struct DeviationInfo {
  Deviation deviation;
  std::string_view name;         // kebab-case, says what goes wrong
  std::string_view requirement;  // the ledger id of what it breaks
  std::string_view sentence;
  trace::Role side = trace::Role::server;  // whose defect it is
};

/// All of one side, in the order of the enumeration.
std::span<const DeviationInfo> deviations(trace::Role side);
const DeviationInfo& info(Deviation deviation);
std::optional<Deviation> find_deviation(std::string_view name, trace::Role side);
/// The names of that side most like `name`, best first, at most `most`.
std::vector<std::string_view> nearest_deviations(std::string_view name, trace::Role side,
                                                 std::size_t most);

/// The defects that one peer has.
class Deviations {
 public:
  static constexpr std::size_t kMost = 512;

  void add(Deviation deviation) { bits_.set(static_cast<std::size_t>(deviation)); }
  bool has(Deviation deviation) const { return bits_.test(static_cast<std::size_t>(deviation)); }
  bool any() const { return bits_.any(); }
  /// Adds by name. The error is a sentence that proposes the nearest names.
  Expected<void, std::string> add(std::string_view name, trace::Role side = trace::Role::server);

 private:
  std::bitset<kMost> bits_;
};

}  // namespace steertag::peer
