// The table of requirements that deviations break besides their own.
#include "switches/also_broken.h"

namespace steertag::peer {
namespace {

// In the order of the requirements.
constexpr AlsoBroken kTable[] = {
    {Deviation::refused_read_answered, "RFC8166-3.1-1"},
    {Deviation::grant_without_receives, "RFC8166-3.3.1-3"},
    {Deviation::asks_for_no_credits, "RFC8166-3.3.1-6"},
    {Deviation::read_depth_ignored, "RFC8166-3.3.1-12"},
    {Deviation::inline_above_threshold, "RFC8166-3.3.2-2"},
    {Deviation::receives_below_1024, "RFC8166-3.3.3-1"},
    {Deviation::assumes_4096, "RFC8166-3.3.3-7"},
    {Deviation::missing_private_data_ignored, "RFC8166-3.3.3-7"},
    {Deviation::write_lengths_kept, "RFC8166-3.4.4-2"},
    {Deviation::read_chunk_short, "RFC8166-3.4.4.1-2"},
    {Deviation::reduced_name_accepted, "RFC8166-3.4.4.3-1"},
    {Deviation::offsets_truncated, "RFC8166-3.4.5-6"},
    {Deviation::writes_after_reply, "RFC8166-3.5.2-2"},
    {Deviation::write_handle_changed, "RFC8166-4.1.2-1"},
    {Deviation::large_pull_discarded, "RFC8166-4.1.2-3"},
    {Deviation::segments_merged, "RFC8166-4.1.2-4"},
    {Deviation::write_list_dropped, "RFC8166-4.1.2-5"},
    {Deviation::nomsg_with_payload, "RFC8166-4.1.2-7"},
    {Deviation::reply_chunk_dropped, "RFC8166-4.2.4-2"},
    {Deviation::inline_above_threshold, "RFC8166-4.2.4-6"},
    {Deviation::reply_chunk_invented, "RFC8166-4.3-1"},
    {Deviation::two_write_chunks, "RFC8166-4.3.2.1-1"},
    {Deviation::write_chunks_shifted, "RFC8166-4.3.2.1-2"},
    {Deviation::returned_length_ignored, "RFC8166-4.3.2.2-5"},
    {Deviation::write_offset_zeroed, "RFC8166-4.4.3-1"},
    {Deviation::error_answered, "RFC8166-4.5-9"},
    {Deviation::reply_chunk_dropped, "RFC8166-4.7-2"},
    {Deviation::unused_write_lengths_kept, "RFC8166-6.1-1"},
    {Deviation::long_reply_refused, "RFC8166-6.3-1"},
    {Deviation::refused_read_answered, "RFC8166-8.1-2"},
    {Deviation::write_beyond_chunk, "RFC8166-8.1.4-2"},
    {Deviation::read_list_in_reply, "RFC8166-A.2-1"},
    {Deviation::idle_connection_closed, "RFC8167-5.4-2"},
    {Deviation::callback_with_read_chunk, "RFC8167-7-1"},
    {Deviation::second_read_segment_ignored, "RFC8267-4-2"},
    {Deviation::read_data_corrupted, "RFC8267-4-4"},
    {Deviation::reduces_ineligible_result, "RFC8267-4-5"},
    {Deviation::read_position_ignored, "RFC8267-6.1-2"},
    {Deviation::write_chunk_ignored, "RFC8267-6.1-3"},
    {Deviation::read_data_corrupted, "RFC8267-6.1-4"},
    {Deviation::reduced_name_accepted, "RFC8267-6.1-5"},
    {Deviation::unused_write_lengths_kept, "RFC8267-6.4.1-6"},
    {Deviation::unused_write_lengths_kept, "RFC8267-6.6-1"},
    {Deviation::granted_slots_missing, "RFC8267-6.6-2"},
    {Deviation::error_ignored, "RFC8267-6.7.2-2"},
    {Deviation::invalidates_unasked, "RFC8797-3.2-1"},
    {Deviation::announces_version_two, "RFC8797-4-6"},
    {Deviation::invalidates_unasked, "RFC8797-4-9"},
    {Deviation::assumes_4096, "RFC8797-5.2-2"},
    {Deviation::writes_after_reply, "RFC5040-5.5-1"},
    {Deviation::missing_private_data_ignored, "RFC8797-5.2-2"},
    {Deviation::refused_read_answered, "RFC5041-8.3.1-1"},
    {Deviation::startup_key_ignored, "RFC5044-7.1.2-3"},
    {Deviation::fragments_refused, "RFC5531-11-3"},
    {Deviation::idle_connection_closed, "RFC8881-2.9.2-1"},
    {Deviation::granted_slots_missing, "RFC8881-2.10.3.1-2"},
    {Deviation::resent_as_new_request, "RFC8881-2.10.13.1.2-1"},
    {Deviation::session_operations_beside_others, "RFC8881-18.35.3-1"},
    {Deviation::misordered_sequence_executed, "RFC8881-18.36.3-15"},
    {Deviation::session_operations_beside_others, "RFC8881-18.37.3-3"},
};

}  // namespace

std::span<const AlsoBroken> also_broken() {
  return kTable;
}

std::vector<std::string_view> also_broken(Deviation deviation) {
  std::vector<std::string_view> requirements;
  for (const AlsoBroken& row : kTable) {
    if (row.deviation == deviation) requirements.push_back(row.requirement);
  }
  return requirements;
}

}  // namespace steertag::peer
