// Management datagrams: their common header (InfiniBand specification, chapter 13).
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {

inline constexpr std::size_t kMadHeaderBytes = 24;
inline constexpr std::size_t kMadDataBytes = 232;
inline constexpr std::size_t kMadBytes = kMadHeaderBytes + kMadDataBytes;

/// Values of communication management (InfiniBand specification, chapter 16).
inline constexpr std::uint8_t kMadBaseVersion = 1;
inline constexpr std::uint8_t kCommunicationClass = 0x07;
inline constexpr std::uint8_t kCommunicationVersion = 2;
inline constexpr std::uint8_t kMethodSend = 0x03;

struct MadHeader {
  std::uint8_t base_version = kMadBaseVersion;
  std::uint8_t management_class = kCommunicationClass;
  std::uint8_t class_version = kCommunicationVersion;
  std::uint8_t method = kMethodSend;
  std::uint16_t status = 0;
  std::uint16_t class_specific = 0;
  std::uint64_t transaction = 0;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;

  bool is_communication() const {
    return base_version == kMadBaseVersion && management_class == kCommunicationClass &&
           class_version == kCommunicationVersion && method == kMethodSend;
  }
  bool operator==(const MadHeader&) const = default;
};

/// These read and write kMadHeaderBytes.
MadHeader decode_mad_header(const std::byte* from);
void encode(const MadHeader& header, std::byte* to);

}  // namespace steertag::rdma::infiniband
