// Messages of the communication manager, which set up and end connections.
//
// Only fields for observers are decoded (InfiniBand specification, chapter 12).
#pragma once

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
inline constexpr std::size_t kReplyPrivateBytes = 196;
inline constexpr std::size_t kRejectPrivateBytes = 148;
inline constexpr std::size_t kReadyPrivateBytes = 224;
inline constexpr std::size_t kDisconnectPrivateBytes = 220;
inline constexpr std::size_t kDisconnectedPrivateBytes = 224;

/// Reason of a REJ by the consumer (InfiniBand specification 12.6.7.2).
inline constexpr std::uint16_t kRejectedByConsumer = 28;

/// One message. Fields that its kind does not carry keep their defaults.
struct CmMessage {
  CmKind kind = CmKind::connect_request;
  std::uint32_t local_id = 0;    // communication ids of the sender and of the receiver
  std::uint32_t remote_id = 0;   // all but REQ
  std::uint64_t service = 0;     // REQ
  std::uint32_t queue_pair = 0;  // REQ, REP: the sender's; DREQ: the receiver's
  // REQ, REP: first PSN of the receiver of the message, as captures of Linux show.
  std::uint32_t starting_psn = 0;
  std::uint8_t path_mtu = 0;    // REQ: 1 to 5 for 256 to 4096 octets
  bool reliable = true;         // REQ: for a reliable connection
  std::uint16_t local_lid = 0;  // REQ: the primary path's ends
  std::uint16_t remote_lid = 0;
  std::uint16_t reason = 0;  // REJ
  View private_data;         // the captured part; shorter than the kind's field if truncated
};

/// Octets of the decoded fields, octets before the private data, and octets of private data. Zero
/// for kinds that are not decoded.
struct CmLayout {
  std::size_t needed = 0;
  std::size_t fields = 0;
  std::size_t private_data = 0;
};
CmLayout layout(CmKind kind);

/// Decodes the data of a management datagram, which may be truncated. Nothing if the kind is not
/// decoded or a field is missing.
std::optional<CmMessage> decode_cm(std::uint16_t attribute, View data);

/// Writes the kMadDataBytes of the message. Private data beyond the field's size is dropped.
void encode(const CmMessage& message, std::byte* to);

/// Octets of a path MTU code, or 0 for an undefined code.
constexpr std::uint32_t path_mtu_bytes(std::uint8_t code) {
  return code >= 1 && code <= 5 ? 128u << code : 0;
}

}  // namespace steertag::rdma::infiniband
