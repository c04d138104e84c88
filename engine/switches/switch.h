// Deviations: named defects of the reference peer.
// Each breaks one requirement, and exists so that the suites can prove that they notice.
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

  // sessions of NFS version 4.1

  // callbacks

  // channels of a session

  // sessions and their reply caches
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
