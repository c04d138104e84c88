// A connection with its two flows, or with a request for one, and the state of its setup.
#pragma once

#include <array>
#include <optional>

#include "capture/infiniband/cm_handshake.h"
#include "capture/infiniband/connection.h"
#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// At most this many packets may arrive late, after the connection's end. More belong to another
/// connection between the same queue pairs.
inline constexpr unsigned kMostLate = 64;

class FlowPair {
 public:
  /// The client, side a, asked for it.
  FlowPair(ConnectionSinks& sinks, ConnectionHints hints, CmHandshake handshake);
  /// Joined: the capture lacks its beginning. Side a is the sender of `one`.
  FlowPair(ConnectionSinks& sinks, ConnectionHints hints, const FlowKey& one, const FlowKey& two);

  Connection& connection() { return connection_; }
  std::optional<CmHandshake>& handshake() { return handshake_; }
  /// The flow that a side sends, if it is known.
  const std::optional<FlowKey>& flow(Side sender) const {
    return flows_[static_cast<std::size_t>(sender)];
  }
  void set_flow(Side sender, const FlowKey& flow) {
    flows_[static_cast<std::size_t>(sender)] = flow;
  }
  /// Whether one of its ends is this queue pair.
  bool has_end(const Address& address, std::uint32_t queue_pair) const;

  /// Reports the request, once.
  void report_request();
  void accept(const FrameStamp& stamp, const KeptPrivateData& data);
  /// A REJ takes back what its sender has accepted, until the connection is used.
  void reject(const FrameStamp& stamp, Side sender, const rdma::infiniband::CmMessage& message);
  /// A DREQ ends the connection if it names the receiver's queue pair, or if that is unknown.
  void request_disconnect(const FrameStamp& stamp, Side sender, std::uint32_t queue_pair);
  /// A DREP ends the connection if the other side sent a DREQ that did not. Without the whole setup
  /// the capture may lack that DREQ.
  void reply_disconnect(const FrameStamp& stamp, Side sender);
  void end(const FrameStamp& stamp);
  /// Stops tracking it although it may go on.
  void forget(const FrameStamp& stamp);
  /// Takes a packet after the connection's end. False if it cannot be a late one.
  bool take_late() { return connection_.other_protocol() || ++late_ <= kMostLate; }
  /// Buffered octets, as the table last counted them.
  std::size_t counted() const { return counted_; }
  void set_counted(std::size_t octets) { counted_ = octets; }

 private:
  std::optional<std::uint32_t> queue_pair_of(Side side) const;
  void disconnect(const FrameStamp& stamp, Side sender);

  Connection connection_;
  std::optional<CmHandshake> handshake_;
  std::array<std::optional<FlowKey>, 2> flows_;
  std::array<bool, 2> sent_disconnect_request_{};
  unsigned late_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace steertag::capture::infiniband
