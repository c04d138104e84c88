// CM private data of RPC-over-RDMA version 1 (RFC 8797 4): build, find and negotiate.
//
// The inline thresholds of a connection follow from both sides' announcements.
#pragma once

#include <optional>

#include "support/bytes.h"

namespace steertag::wire {

inline constexpr std::uint32_t kPrivateDataIdentifier = 0xf6ab0e18;  // RFC 8797 4
inline constexpr std::size_t kPrivateDataBytes = 8;                  // RFC 8797 4
inline constexpr std::uint8_t kPrivateDataVersion = 1;
inline constexpr std::uint32_t kDefaultInlineBytes = 1024;    // RFC 8166 3.3.3
inline constexpr std::uint32_t kLargestInlineBytes = 262144;  // RFC 8797 4.2

/// The announcement of one side. Sizes in octets: multiples of 1024 up to 262144.
struct PrivateData {
  bool remote_invalidation = false;  // the R flag
  std::uint32_t send_bytes = kDefaultInlineBytes;
  std::uint32_t receive_bytes = kDefaultInlineBytes;
  bool operator==(const PrivateData&) const = default;
};

/// The raw eight octets, legal or not.
struct PrivateDataDraft {
  std::uint32_t identifier = kPrivateDataIdentifier;
  std::uint8_t version = kPrivateDataVersion;
  std::uint8_t flags = 0;
  std::uint8_t send_size = 3;
  std::uint8_t receive_size = 3;
};

void encode(const PrivateData& data, Bytes& out);
void encode(const PrivateDataDraft& draft, Bytes& out);

/// RFC 8797 4.2: octets
///
/// 1024 - 1, clamped to one octet.
std::uint8_t encode_size(std::uint32_t bytes);
std::uint32_t decode_size(std::uint8_t value);

/// The first identifier at or after `from`, at any octet offset and whatever follows.
std::optional<std::size_t> find_private_data_identifier(View buffer, std::size_t from = 0);

struct FoundPrivateData {
  std::size_t offset = 0;  // start of the identifier
  PrivateData data;
  std::uint8_t raw_flags = 0;
};

/// Searches at every octet offset (RFC 8797 5.2). Reserved bits are ignored. Nothing without an
/// identifier that is followed by version 1 and six more octets in all. The defaults apply then.
std::optional<FoundPrivateData> find_private_data(View buffer);

/// The parameters of a connection, fixed for its life (RFC 8797 4.1, 4.2).
struct Negotiated {
  std::uint32_t to_server_bytes = kDefaultInlineBytes;
  std::uint32_t to_client_bytes = kDefaultInlineBytes;
  bool remote_invalidation = false;  // both sides set R
};

Negotiated negotiate(const std::optional<PrivateData>& client,
                     const std::optional<PrivateData>& server);

}  // namespace steertag::wire
