// Tracks the messages of connection managers: who connects to whom, between which queue pairs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "capture/infiniband/pair_table.h"
#include "capture/infiniband/unmatched_flows.h"
#include "capture/reader.h"

namespace steertag::capture::infiniband {

/// At most this many replies without a request are kept. Captures misplace packets by a few. A
/// capture may also start between request and reply.
inline constexpr std::size_t kMostEarlyReplies = 64;
/// At most this many truncated requests and replies are kept; beyond that the oldest is evicted. An
/// evicted connection counts as joined in its middle.
inline constexpr std::size_t kMostCutSetups = 64;
/// At most this many packets of a connection may be captured before its reply.
inline constexpr std::int32_t kMostEarlyPackets = 64;

class CmTracker {
 public:
  CmTracker(ConnectionSinks& sinks, ReaderOptions options, PairTable& pairs,
            UnmatchedFlows& unmatched)
      : sinks_(sinks), options_(std::move(options)), pairs_(pairs), unmatched_(unmatched) {}

  /// A packet to the management queue pair.
  void read(const TransportPacket& packet);
  /// The reply that named this flow's queue pair, if its request is not in the capture.
  const EarlyReply* early_reply(const FlowKey& to_server) const;
  /// Whether the capture has only a part of a request or reply between these hosts.
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
  UnmatchedFlows& unmatched_;
  std::deque<EarlyReply> early_replies_;
  std::deque<FlowKey> cut_setups_;  // without a queue pair
};

}  // namespace steertag::capture::infiniband
