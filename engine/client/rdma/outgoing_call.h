// One call of the requester: its message, the memory that it offers, and its reply's checks.
#pragma once

#include <array>
#include <optional>

#include "client/interposer.h"
#include "client/policy.h"
#include "client/rdma/call_result.h"
#include "client/rdma/request.h"
#include "endpoint/region_pool.h"

namespace steertag::peer {

/// Most segments into which the requester divides a chunk (RFC 8267 6.4.2).
inline constexpr std::uint32_t kMostRequestSegments = 16;

/// Where the memory that a call offers comes from. With `window_of` each region is a window of that
/// connection; otherwise plain regions, which not every device lets the server close.
struct CallMemory {
  RegionPool& pool;
  fabric::Connection* window_of = nullptr;
  Registration registration = Registration::each;
  bool pre_posts = false;  // RequesterOptions

  PooledRegion acquire(std::size_t length, fabric::Rights rights,
                       Contents contents = Contents::zeros) const {
    return pool.acquire(length, rights, window_of, contents, registration);
  }
};

class OutgoingCall {
 public:
  OutgoingCall(std::uint32_t xid, Request request, CallCallback callback, ReplyPolicy policy);

  /// Builds the message for these limits. Errors: too_large, and no_memory, which may pass. Done
  /// anew for each connection.
  Expected<void, CallErrc> marshal(const CallMemory& memory, const wire::Negotiated& limits,
                                   std::uint32_t credits, ClientInterposer* interposer);
  std::span<const View> parts() const { return parts_; }
  /// Messages of the interposer that follow the call.
  std::vector<Bytes> take_behind() { return std::exchange(behind_, {}); }

  /// Checks a reply against the call and closes its memory to the server. With nullopt, discard the
  /// reply as if it had not come; nothing was closed (RFC 8166 4.5). `placed`: the data that comes
  /// after the payload, at the place of `place`.
  std::optional<Expected<CallReply, CallError>> accept(const wire::Header& header, View payload,
                                                       bool closes_memory = true,
                                                       std::optional<View> placed = {});
  /// The place of the data of a reply whose payload begins with these octets. There is none unless
  /// the data is as long as what was asked for. `from` counts from the start of the payload.
  fabric::Placement place(View payload);
  /// Where that data goes; empty: there is no such buffer.
  MutableView pre_posted() const { return pre_posted_ ? pre_posted_->bytes() : MutableView{}; }
  /// Takes note of a Send with Invalidate. False when the STag is none of this call.
  bool owns(std::uint32_t stag) const;
  void close_memory();
  void release_memory();

  std::uint32_t xid() const { return xid_; }
  /// It is sent under another XID from now on.
  void rename(std::uint32_t xid);
  /// Gives its memory away as it is.
  void leave_memory(std::vector<PooledRegion>& open);
  /// The same of a long call's own octets, or of its reply chunk.
  void leave_position_zero(std::vector<PooledRegion>& open);
  void leave_reply_chunk(std::vector<PooledRegion>& open);
  const CallCallback& callback() const { return callback_; }
  const wire::Header& header() const { return header_; }

  std::uint32_t sends_outstanding = 0;  // the message's octets must stay until this is zero
  std::uint32_t attempts = 0;           // connections on which it was sent
  std::uint32_t vain_connections = 0;   // in a row while it waited, which carried no call
  bool answered = false;
  std::uint32_t retries = 0;  // after RDMA_ERROR
  bool remotely_invalidated = false;

 private:
  void show_request(ClientInterposer& interposer);
  void show_departure(ClientInterposer& interposer, const wire::Negotiated& limits);
  bool offer_result(const CallMemory& memory, const CallForm& form, fabric::Rights rights);
  bool offer_arguments(const CallMemory& memory, const CallForm& form);
  std::optional<CallError> check_echo(const wire::Header& header) const;
  std::optional<CallError> check_item(const wire::Header& header, CallReply& reply);
  std::optional<CallError> check_items(const wire::Header& header, CallReply& reply) const;
  std::optional<CallError> check_placed(View data, CallReply& reply);
  std::array<PooledRegion*, 5> regions() {
    return {&argument_, &position_zero_, &result_, &reply_, &pre_posted_};
  }

  ReplyPolicy policy_;
  std::uint32_t xid_;
  Request request_;
  CallCallback callback_;
  wire::Header header_;
  Bytes header_bytes_;
  std::vector<View> parts_;
  std::vector<Bytes> behind_;
  std::optional<std::uint32_t> shown_;  // `attempts` and `retries` when the interposer last saw it
  PooledRegion argument_;
  PooledRegion position_zero_;
  PooledRegion result_;
  PooledRegion reply_;
  PooledRegion pre_posted_;  // for the data of an inline reply; not open to the server
};

}  // namespace steertag::peer
