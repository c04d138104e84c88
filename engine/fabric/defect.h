// Defects of a provider below messages: each breaks a rule of MPA, DDP or RDMAP on purpose.
// With them the suites prove that they detect such a violation. Other providers ignore them.
#pragma once

#include <cstdint>

namespace steertag::fabric {

enum class Defect : std::uint8_t {
  // startup
  startup_key_ignored,          // any key counts as that of a request, or of a reply
  plain_reply,                  // an enhanced request gets a reply of revision 1
  enhanced_reply_revision_one,  // a reply with S set has revision 1
  reserved_startup_bits_set,    // in replies
  reply_depth_raised,           // the reply's ORD exceeds the request's IRD
  reply_depths_invented,        // depths in answer to "not negotiated"
  peer_to_peer_unanswered,      // A is not set in the reply
  stray_rtr_flag,               // the reply offers an RTR without a request for one
  markers_left_out,             // a request for markers is accepted, and none are inserted
  crc_left_out,                 // when the request did not ask for it, although the reply says C
  startup_words_last,           // the depths follow the private data of a reply
  sends_before_first_fpdu,      // a Send without octets, right behind the reply
  // messages
  crc_unchecked,
  control_unchecked,   // RDMAP version and opcodes
  sequence_unchecked,  // MSN of Sends
  solicited_send_refused,
  invalidation_unchecked,
  empty_write_checked,    // STag and offset of a Write without octets
  empty_read_unanswered,  // Read Requests for no octets
  refused_read_answered,  // with zeros
  read_depth_ignored,     // more Read Requests are under way than the peer takes
  terminate_code_wrong,   // of Terminates about DDP
  // segments
  reserved_segment_bits_set,  // of DDP
  reserved_control_bits_set,  // of RDMAP
  tagged_offset_stays,        // in all segments of a Write
  send_sequence_from_zero,    // MSN of the first Send
  pad_not_zero,
  crc_big_endian,
  read_request_long,        // four octets more
  read_response_elsewhere,  // another STag than that of the request
  terminate_as_send,        // on the queue of Sends
};

class Defects {
 public:
  void add(Defect defect) { bits_ |= bit(defect); }
  bool has(Defect defect) const { return (bits_ & bit(defect)) != 0; }

 private:
  static constexpr std::uint32_t bit(Defect defect) {
    return std::uint32_t{1} << static_cast<unsigned>(defect);
  }
  std::uint32_t bits_ = 0;
};

}  // namespace steertag::fabric
