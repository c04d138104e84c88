// One call of the requester: its message, the memory that it offers, and its reply's checks.
#pragma once

#include <optional>

#include "client/rdma/call_result.h"
#include "client/rdma/request.h"
#include "endpoint/region_pool.h"
#include "switches/switch.h"

namespace steertag::peer {

/// Most segments into which the requester divides a chunk (RFC 8267 6.4.2).
inline constexpr std::uint32_t kMostRequestSegments = 16;

/// Where the memory that a call offers comes from. With `window_of` each region is a window of that
/// connection; otherwise plain regions, which not every device lets the server close.
struct CallMemory {
  RegionPool& pool;
  fabric::Connection* window_of = nullptr;

  PooledRegion acquire(std::size_t length, fabric::Rights rights) const {
    return pool.acquire(length, rights, window_of);
  }
};

class OutgoingCall {
 public:
  /// `deviations` must outlive the call.
  OutgoingCall(std::uint32_t xid, Request request, CallCallback callback,
               const Deviations& deviations);

  /// Builds the message for these limits. Errors: too_large, no_memory (of which the latter may
  /// pass). Done anew for each connection.
  Expected<void, CallErrc> marshal(const CallMemory& memory, const wire::Negotiated& limits,
                                   std::uint32_t credits);
  std::span<const View> parts() const { return parts_; }

  /// Checks a reply against the call and closes its memory to the server. nullopt: the reply must
  /// be discarded as if it had not come, and nothing was closed (RFC 8166 4.5).
  std::optional<Expected<CallReply, CallError>> accept(const wire::Header& header, View payload);
  /// Takes note of a Send with Invalidate. False when the STag is none of this call.
  bool owns(std::uint32_t stag) const;
  void close_memory();
  void release_memory();

  std::uint32_t xid() const { return xid_; }
  /// A deviation sends it under another XID.
  void rename(std::uint32_t xid);
  /// The call from its XID on, which a deviation may change before it is sent again.
  MutableView stream() { return request_.stream; }
  /// A deviation gives its memory away as it is.
  void leave_memory(std::vector<PooledRegion>& open);
  const CallCallback& callback() const { return callback_; }
  const wire::Header& header() const { return header_; }

  std::uint32_t sends_outstanding = 0;  // the message's octets must stay until this is zero
  std::uint32_t attempts = 0;           // connections on which it was sent
  bool answered = false;
  std::uint32_t resent = 0;  // by a deviation, on one connection
  bool remotely_invalidated = false;
  bool offers_no_room = false;  // a deviation offers an unused write chunk again
  /// What a deviation does when the call has left.
  void bend_sent(const wire::Negotiated& limits);
  /// A deviation has the call offer more for its reply when it is made again.
  void ask_for_more();

 private:
  void bend_form(CallForm& form, const wire::Negotiated& limits);
  void bend_needs(const wire::Negotiated& limits);
  void bend_lists(const wire::Negotiated& limits);
  void bend_long_call();
  void bend_header();
  void bend_octets(const wire::Negotiated& limits);
  bool offer_result(const CallMemory& memory, const CallForm& form);
  bool offer_arguments(const CallMemory& memory, const CallForm& form);
  std::optional<CallError> check_echo(const wire::Header& header) const;
  std::optional<CallError> check_item(const wire::Header& header, CallReply& reply);

  bool deviates(Deviation deviation) const { return deviations_.has(deviation); }

  const Deviations& deviations_;
  std::uint32_t xid_;
  Request request_;
  CallCallback callback_;
  wire::Header header_;
  Bytes header_bytes_;
  std::vector<View> parts_;
  PooledRegion argument_;
  PooledRegion position_zero_;
  PooledRegion result_;
  PooledRegion reply_;
};

}  // namespace steertag::peer
