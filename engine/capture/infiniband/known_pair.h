// A connection of which both flows are known, or that was asked for, with what is known of its
// setup.
#pragma once

#include <array>
#include <optional>

#include "capture/infiniband/connection.h"
#include "capture/infiniband/exchange.h"
#include "capture/infiniband/kept_packet.h"

namespace steertag::capture::infiniband {

/// Packets that may still arrive for a connection that is over: the capture misplaced them. More
/// belong to another connection between the same queue pairs.
inline constexpr unsigned kMostLate = 64;

class KnownPair {
 public:
  /// Asked for by the client, which is side a.
  KnownPair(ConnectionSinks& sinks, FeedHints hints, Exchange exchange);
  /// Joined: the capture has no beginning of it. Side a is the sender of `one`.
  KnownPair(ConnectionSinks& sinks, FeedHints hints, const FlowKey& one, const FlowKey& two);

  Connection& connection() { return connection_; }
  std::optional<Exchange>& exchange() { return exchange_; }
  /// The flow that a side sends, if it is known.
  const std::optional<FlowKey>& flow(Side sender) const {
    return flows_[static_cast<std::size_t>(sender)];
  }
  void set_flow(Side sender, const FlowKey& flow) {
    flows_[static_cast<std::size_t>(sender)] = flow;
  }
  /// Whether one of its ends is this queue pair.
  bool has_end(const Address& address, std::uint32_t queue_pair) const;

  /// Tells the request if that was not done yet.
  void tell_request();
  void accept(const Place& place, const KeptPrivateData& data);
  void reject(const Place& place, Side sender, const rdma::infiniband::CmMessage& message);
  void disconnect(const Place& place, Side sender);
  void end(const Place& place);
  /// It is forgotten although it may go on.
  void forget(const Place& place);
  /// A packet for a connection that is over. False if it cannot be a late one.
  bool take_late() { return connection_.strange() || ++late_ <= kMostLate; }
  /// What its table has counted of the octets that it holds back.
  std::size_t counted() const { return counted_; }
  void set_counted(std::size_t octets) { counted_ = octets; }

 private:
  Connection connection_;
  std::optional<Exchange> exchange_;
  std::array<std::optional<FlowKey>, 2> flows_;
  unsigned late_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace steertag::capture::infiniband
