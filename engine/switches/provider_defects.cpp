// Deviations of the provider.
#include "switches/provider_defects.h"

namespace steertag::peer {
namespace {

struct Pair {
  Deviation deviation;
  fabric::Defect defect;
};

constexpr Pair kPairs[] = {
    {Deviation::startup_key_ignored, fabric::Defect::startup_key_ignored},
    {Deviation::plain_reply, fabric::Defect::plain_reply},
    {Deviation::enhanced_reply_revision_one, fabric::Defect::enhanced_reply_revision_one},
    {Deviation::reserved_startup_bits_set, fabric::Defect::reserved_startup_bits_set},
    {Deviation::reply_depth_raised, fabric::Defect::reply_depth_raised},
    {Deviation::reply_depths_invented, fabric::Defect::reply_depths_invented},
    {Deviation::peer_to_peer_unanswered, fabric::Defect::peer_to_peer_unanswered},
    {Deviation::stray_rtr_flag, fabric::Defect::stray_rtr_flag},
    {Deviation::markers_left_out, fabric::Defect::markers_left_out},
    {Deviation::crc_left_out, fabric::Defect::crc_left_out},
    {Deviation::crc_unchecked, fabric::Defect::crc_unchecked},
    {Deviation::control_unchecked, fabric::Defect::control_unchecked},
    {Deviation::sequence_unchecked, fabric::Defect::sequence_unchecked},
    {Deviation::solicited_send_refused, fabric::Defect::solicited_send_refused},
    {Deviation::invalidation_unchecked, fabric::Defect::invalidation_unchecked},
    {Deviation::empty_write_checked, fabric::Defect::empty_write_checked},
    {Deviation::empty_read_unanswered, fabric::Defect::empty_read_unanswered},
    {Deviation::refused_read_answered, fabric::Defect::refused_read_answered},
    {Deviation::read_depth_ignored, fabric::Defect::read_depth_ignored},
    {Deviation::terminate_code_wrong, fabric::Defect::terminate_code_wrong},
    {Deviation::reserved_segment_bits_set, fabric::Defect::reserved_segment_bits_set},
    {Deviation::reserved_control_bits_set, fabric::Defect::reserved_control_bits_set},
    {Deviation::tagged_offset_stays, fabric::Defect::tagged_offset_stays},
    {Deviation::send_sequence_from_zero, fabric::Defect::send_sequence_from_zero},
    {Deviation::pad_not_zero, fabric::Defect::pad_not_zero},
    {Deviation::crc_big_endian, fabric::Defect::crc_big_endian},
    {Deviation::read_request_long, fabric::Defect::read_request_long},
    {Deviation::read_response_elsewhere, fabric::Defect::read_response_elsewhere},
    {Deviation::terminate_as_send, fabric::Defect::terminate_as_send},
    {Deviation::startup_words_last, fabric::Defect::startup_words_last},
    {Deviation::sends_before_first_fpdu, fabric::Defect::sends_before_first_fpdu},
};

}  // namespace

fabric::Defects provider_defects(const Deviations& deviations) {
  fabric::Defects defects;
  for (const Pair& pair : kPairs) {
    if (deviations.has(pair.deviation)) defects.add(pair.defect);
  }
  return defects;
}

}  // namespace steertag::peer
