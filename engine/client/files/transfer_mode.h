// How the data of READ and WRITE gets to the other end over RDMA.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace steertag::peer {

enum class TransferMode : std::uint8_t {
  as_needed,   // inline where it fits, otherwise direct
  in_line,     // in the RPC message, which is announced as large as RFC 8797 allows
  direct,      // by the server's RDMA Writes and Reads, with memory that is open for one call
  cached,      // the same with memory that stays open over calls
  pre_posted,  // READ as in_line, placed in its buffer by the reply's XID
  optimistic,  // READ by the client's RDMA Reads, if the server has direct access
  batch,       // several READs in a call, each as direct, if the server has direct access
};

/// The names of modes, in their order.
inline constexpr std::array<std::string_view, 7> kTransferModes{
    "as-needed", "inline", "direct", "cached", "pre-posted", "optimistic", "batch"};

constexpr std::string_view name(TransferMode mode) {
  return kTransferModes[static_cast<std::size_t>(mode)];
}
constexpr std::optional<TransferMode> transfer_mode(std::string_view name) {
  for (std::size_t i = 0; i < kTransferModes.size(); ++i) {
    if (kTransferModes[i] == name) return static_cast<TransferMode>(i);
  }
  return std::nullopt;
}

}  // namespace steertag::peer
