// Messages of the communication manager, which set up and end connections.
//
// InfiniBand specification, chapter 12.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {

/// Attribute ids of the messages' management datagrams.
enum class CmKind : std::uint16_t {
  connect_request = 0x0010,      // REQ
  message_receipt_ack = 0x0011,  // MRA
  connect_reject = 0x0012,       // REJ
  connect_reply = 0x0013,        // REP
  ready_to_use = 0x0014,         // RTU
  disconnect_request = 0x0015,   // DREQ
  disconnect_reply = 0x0016,     // DREP
};
/// "ConnectRequest", or "other message".
std::string_view name(CmKind kind);

/// Size of the private data field of each kind. The field is always sent whole, with zeros after
/// the consumer's octets.
inline constexpr std::size_t kRequestPrivateBytes = 92;
inline constexpr std::size_t kReceiptPrivateBytes = 222;
inline constexpr std::size_t kReplyPrivateBytes = 196;
inline constexpr std::size_t kRejectPrivateBytes = 148;
inline constexpr std::size_t kReadyPrivateBytes = 224;
inline constexpr std::size_t kDisconnectPrivateBytes = 220;
inline constexpr std::size_t kDisconnectedPrivateBytes = 224;

/// Additional information of a REJ.
inline constexpr std::size_t kMostAdditionalBytes = 72;

/// Transport service types of a REQ.
inline constexpr std::uint8_t kReliableConnection = 0;
inline constexpr std::uint8_t kUnreliableConnection = 1;

/// The message that an MRA or a REJ answers.
enum class CmSubject : std::uint8_t { request = 0, reply = 1, other = 2 };

/// A path of a REQ.
struct CmPath {
  std::uint16_t local_lid = 0;
  std::uint16_t remote_lid = 0;
  std::array<std::byte, 16> local_gid{};
  std::array<std::byte, 16> remote_gid{};
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t packet_rate = 0;  // 6 bits
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t service_level = 0;      // 4 bits
  bool subnet_local = false;           // the path has no router
  std::uint8_t local_ack_timeout = 0;  // 5 bits
  bool operator==(const CmPath&) const = default;
};

/// One message. Fields that its kind does not carry keep their defaults. Time-outs are exponents:
/// 4.096 us * 2^n.
struct CmMessage {
  CmKind kind = CmKind::connect_request;
  std::uint32_t local_id = 0;    // communication ids of the sender and of the receiver
  std::uint32_t remote_id = 0;   // all but REQ
  std::uint64_t service = 0;     // REQ
  std::uint32_t queue_pair = 0;  // REQ, REP: the sender's; DREQ: the receiver's
  // REQ, REP: first PSN of the receiver of the message, as captures of Linux show.
  std::uint32_t starting_psn = 0;

  // REQ and REP.
  std::uint64_t local_guid = 0;  // of the sender's channel adapter
  std::uint32_t queue_key = 0;
  std::uint8_t responder_resources = 0;  // READs that the sender takes at a time
  std::uint8_t initiator_depth = 0;      // READs that the sender has outstanding at most
  bool flow_control = false;             // end to end
  std::uint8_t rnr_retry_count = 0;      // 3 bits; 7: without an end
  bool shared_receive_queue = false;

  // REQ.
  std::uint8_t service_type = kReliableConnection;  // 2 bits
  std::uint8_t remote_response_timeout = 0;         // 5 bits: the receiver answers within it
  std::uint8_t local_response_timeout = 0;          // 5 bits: the sender answers within it
  std::uint8_t retry_count = 0;                     // 3 bits
  std::uint8_t max_cm_retries = 0;                  // 4 bits
  std::uint16_t partition = 0xffff;
  std::uint8_t path_mtu = 0;  // 4 bits: 1 to 5 for 256 to 4096 octets
  CmPath primary;
  CmPath alternate;

  // REP.
  std::uint8_t target_ack_delay = 0;   // 5 bits
  std::uint8_t failover_accepted = 0;  // 2 bits

  // MRA and REJ.
  CmSubject subject = CmSubject::request;  // 2 bits
  std::uint8_t service_timeout = 0;        // MRA, 5 bits: the answer follows within it
  std::uint16_t reason = 0;                // REJ
  std::uint8_t additional_bytes = 0;       // REJ, 7 bits: as the message says
  View additional;                         // the captured part of them, at most 72

  View private_data;  // the captured part; shorter than the kind's field if truncated

  bool reliable() const { return service_type == kReliableConnection; }
};

/// Octets that an observer needs, octets before the private data, and octets of private data. Zero
/// for kinds that are not decoded.
struct CmLayout {
  std::size_t needed = 0;
  std::size_t fields = 0;
  std::size_t private_data = 0;
};
CmLayout layout(CmKind kind);

/// Decodes the data of a management datagram, which may be truncated. Nothing if the kind is not
/// decoded or an observer's field is missing. Other missing fields are zero.
std::optional<CmMessage> decode_cm(std::uint16_t attribute, View data);

/// Writes the kMadDataBytes of the message, with zeros in reserved fields. Private data and
/// additional information beyond their fields' sizes are dropped.
void encode(const CmMessage& message, std::byte* to);

/// Octets of a path MTU code, or 0 for an undefined code.
constexpr std::uint32_t path_mtu_bytes(std::uint8_t code) {
  return code >= 1 && code <= 5 ? 128u << code : 0;
}

}  // namespace steertag::rdma::infiniband
