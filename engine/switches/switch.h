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
  recall_without_referring_call,

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
  path_flags_stay,

  // callbacks
  callback_unannounced,
  callback_program_wrong,
  callback_credential_unoffered,
  recall_without_sequence,
  callback_sequence_skips,
  recall_names_other_stateid,
  lost_recall_not_repeated,
  lost_recall_renumbered,

  // channels of a session
  callback_of_other_user,

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
