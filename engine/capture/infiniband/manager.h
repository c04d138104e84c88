// Follows the messages of connection managers: who connects to whom, between which queue pairs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "capture/infiniband/pair_table.h"
#include "capture/infiniband/strangers.h"
#include "capture/reader.h"

namespace steertag::capture::infiniband {

/// Replies kept that came without a request. Captures misplace packets by a few; a connection that
/// is joined between the two is served as well.
inline constexpr std::size_t kMostEarlyReplies = 64;
/// Requests and replies kept that were cut. Of more the oldest are forgotten, and their connections
/// count as joined in their middle.
inline constexpr std::size_t kMostCutSetups = 64;
/// Packets of a connection that may have been captured before the reply that it began with.
inline constexpr std::int32_t kMostEarlyPackets = 64;

class Manager {
 public:
  Manager(ConnectionSinks& sinks, ReaderOptions options, PairTable& pairs, Strangers& strangers)
      : sinks_(sinks), options_(std::move(options)), pairs_(pairs), strangers_(strangers) {}

  /// A packet to the queue pair of management.
  void read(const TransportPacket& packet);
  /// The reply that named this flow's queue pair, if its request was not seen.
  const EarlyReply* early_reply(const FlowKey& to_server) const;
  /// Whether a request or reply between these hosts was captured, but not whole.
  bool setup_cut(const FlowKey& flow) const;

 private:
  using CmMessage = rdma::infiniband::CmMessage;

  void on_request(const TransportPacket& packet, const CmMessage& request);
  void on_reply(const TransportPacket& packet, const CmMessage& reply);
  void on_other(const TransportPacket& packet, const CmMessage& message);
  void establish(PairTable::Position pair, const EarlyReply& reply);
  void replay_early(PairTable::Position pair, std::uint32_t client_psn, std::uint32_t server_psn);
  std::optional<PairTable::Sender> party(const TransportPacket& packet, const CmMessage& message);
  bool is_nfs_port(std::uint64_t service) const;
  void note_cut(const TransportPacket& packet);

  ConnectionSinks& sinks_;
  ReaderOptions options_;
  PairTable& pairs_;
  Strangers& strangers_;
  std::deque<EarlyReply> early_replies_;
  std::deque<FlowKey> cut_setups_;  // without a queue pair
};

}  // namespace steertag::capture::infiniband
