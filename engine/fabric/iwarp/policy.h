// A side's decisions below messages, by MPA, DDP and RDMAP. The defaults conform.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "rdma/iwarp/segment.h"
#include "support/bytes.h"

namespace steertag::fabric::iwarp {

/// How the peer's startup frame is taken.
struct StartupPolicy {
  bool checks_key = true;       // RFC 5044 7.1.1
  bool rejects_markers = true;  // RFC 5044 4.3: a responder that inserts none, a request with M
};

/// The responder's MPA reply.
struct ReplyPolicy {
  std::byte reserved_flags{0};   // RFC 5044 7.1.1: Res, the low four bits
  bool counts_own_crc = true;    // RFC 5044 4.4: C of either frame is enough; false: of the request
  bool answers_enhanced = true;  // RFC 6581 10; false: with a reply of revision 1
  std::uint8_t enhanced_revision = 2;  // RFC 6581 6: Rev of a reply with S
  bool enhanced_data_first = true;     // RFC 6581 9; false: behind the private data
  bool limits_ord = true;              // RFC 6581 9.1: to the IRD of the request
  bool echoes_unnegotiated = true;     // RFC 6581 9.1: 0x3FFF answers 0x3FFF
  bool echoes_peer_to_peer = true;     // RFC 6581 9.2: A
  bool offers_unasked_rtr = false;     // RFC 6581 9.2: an RTR although the request has no A
  Bytes behind{};  // RFC 5044 7.1.2: nothing leaves before the initiator's first FPDU
};

/// How FPDUs, segments and messages of the peer are taken.
struct ReceivePolicy {
  bool checks_crc = true;           // RFC 5044 8
  bool checks_control = true;       // RFC 5040 4.1: RDMAP version, opcode and its queue
  bool checks_send_msn = true;      // RFC 5041 7.1
  bool takes_solicited = true;      // RFC 5040 5.3: Send with Solicited Event
  bool invalidates = true;          // RFC 5040 5.3; false: any Invalidate STag counts as none
  bool checks_empty_write = false;  // RFC 5041 5.2: STag and TO of a Write without octets
  bool answers_empty_read = true;   // RFC 5040 5.2.1
  bool refuses_read = true;         // RFC 5040 7.2: of memory that is not open; false: zeros answer
  std::uint8_t ddp_code_offset = 0;  // RFC 5041 7.2: added to the error codes of DDP
};

/// The messages that leave, and their segments.
struct SegmentPolicy {
  std::byte reserved_ddp{0};                    // RFC 5041 4.1: bits of the DDP control octet
  std::byte reserved_rdmap{0};                  // RFC 5040 4.1: bits of the RDMAP control octet
  std::byte pad{0};                             // RFC 5044 4.1
  std::endian crc_order = std::endian::little;  // RFC 5044 4.4
  bool advances_offset = true;       // RFC 5041 4.2: TO of a Write from segment to segment
  bool limits_reads = true;          // RFC 5040 6.1: Read Requests under way, to our ORD
  std::uint32_t first_send_msn = 1;  // RFC 5041 4.3
  std::uint32_t terminate_queue = rdma::iwarp::kTerminateQueue;  // RFC 5040 4.8
  std::uint32_t refusal_msn_offset = 0;  // docs/direct-access.md: added to the refused Read's
  std::uint32_t response_stag_mask = 0;  // RFC 5040 4.4: bits of the sink STag that are inverted
  /// RFC 5040 4.4: zeros follow the Read Request's own 28 octets. At most kMostTerminateBytes.
  std::size_t read_request_bytes = rdma::iwarp::kReadRequestBytes;
};

/// How long everything else waits for a peer that is in the middle of something.
struct BlockingPolicy {
  std::chrono::milliseconds inside_fpdu{0};
  std::chrono::milliseconds inside_message{0};  // a Send without its last segment
  std::chrono::milliseconds on_writes{0};       // TCP takes no more octets
  std::chrono::milliseconds on_reads{0};        // an RDMA Read has no response
};

struct Policy {
  StartupPolicy startup{};
  ReplyPolicy reply{};
  ReceivePolicy receive{};
  SegmentPolicy segments{};
  BlockingPolicy blocking{};
};

}  // namespace steertag::fabric::iwarp
