// A side's decisions about the peer's packets, by InfiniBand's transport. The defaults conform.
#pragma once

#include <chrono>
#include <cstdint>

namespace steertag::fabric::roce {

/// A listener's decisions about REQs.
struct StartupPolicy {
  bool checks_service = true;    // false: a REQ for a service without a listener is taken
  bool knows_requests = true;    // false: a repeated REQ makes another connection
  bool forgets_requests = true;  // false: the REQ behind one without addresses is rejected
  bool forgets_stale = true;     // false: the REQ behind one of a queue pair in use is rejected
};

struct Policy {
  StartupPolicy startup{};
  // Responder.
  bool checks_sequence = true;      // false: a request behind a gap is taken
  bool reports_gaps = true;         // false: the peer has to find out by time
  bool reports_gap_once = true;     // false: a NAK for each packet behind a gap
  bool knows_duplicates = true;     // false: a repeated Send is another message
  bool repeats_responses = true;    // false: a repeated READ has no response
  bool knows_reads = true;          // false: a READ in the place of another request has one
  bool repeats_parts = true;        // false: none if it begins behind the start of its memory
  bool repeats_from_middle = true;  // false: its response is from the start of its memory
  // false: RDMA Reads beyond the agreed number have no response. Without a Send between them all
  // count, so that it does not depend on time.
  bool answers_beyond_depth = true;
  bool checks_opcodes = true;       // false: a Middle or Last packet may begin a message
  bool checks_lengths = true;       // false: packets need not have the octets of their RETH
  bool refuses_write = true;        // false: a Write to other memory is acknowledged
  bool refuses_read = true;         // false: zeros are the response for other memory
  bool checks_invalidation = true;  // false: Send with Invalidate may name any R_Key
  // Requester.
  bool waits_for_receives = true;       // false: an RNR NAK counts as an acknowledgement
  bool checks_responses = true;         // false: READ responses have any opcode and syndrome
  bool checks_response_lengths = true;  // false: they have any length; what fits is placed
  bool checks_response_psn = true;      // false: any response is the next one
  // Of a Send that finds no receive (RNR NAK). Startup asks the peer for so many, and we make no
  // more, even for a peer that asks for 7: for ever. With `Limits::rnr_timer` together a second.
  std::uint8_t most_rnr_repetitions = 6;
  // Packets.
  bool checks_crc = true;
  bool checks_partition = true;
  // How long everything else waits behind the first packet of a message that has more.
  std::chrono::milliseconds blocks_inside_message{0};
  // Connection management.
  bool repairs_startup = true;  // false: REQ and REP are not repeated by time, data is no RTU
  bool takes_repeated_request = true;    // false: a REQ, or a REP, ends the connection it made
  bool ignores_misplaced = true;         // false: RTU, REP and MRA end an established connection
  bool limits_depths = true;             // false: a REP offers more READs than the REQ
  bool answers_disconnect = true;        // false: a DREQ has no answer
  bool checks_disconnect = true;         // false: a DREQ for another queue pair ends the connection
  bool expects_disconnect_reply = true;  // false: a DREP ends a connection without a DREQ
};
inline constexpr Policy kConformingPolicy{};

}  // namespace steertag::fabric::roce
