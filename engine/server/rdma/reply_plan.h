// The form of a reply (RFC 8166 3.5.3): what goes into write chunks, what inline, what into the
// reply chunk, and the header that says so.
#pragma once

#include <optional>
#include <vector>

#include "endpoint/chunk.h"
#include "server/rdma/reply_payload.h"
#include "switches/switch.h"
#include "wire/header.h"

namespace steertag::peer {

/// What the connection allows.
struct ReplyTerms {
  std::uint32_t grant = 1;
  std::uint32_t threshold_bytes = 1024;
  bool may_invalidate = false;  // both sides set R (RFC 8797 4.1)
  // What only deviations use: an STag of an earlier call, the XID of another call, that of the
  // request whose retry this call is, whether it is a request of a session at all, and the first of
  // its slot.
  std::optional<std::uint32_t> earlier_stag;
  std::optional<std::uint32_t> other_xid;
  std::optional<std::uint32_t> first_xid;
  bool in_session = false;
  bool begins_slot = false;
};

/// A reply that is ready to be posted: the writes in order, then one Send of `parts`. Views point
/// into the plan and the payload; both must stay until everything completed. Reused without
/// allocating.
class ReplyPlan {
 public:
  explicit ReplyPlan(const Deviations& deviations) : deviations_(deviations) {}

  /// False when the call's chunks cannot take the reply: nothing may be written then (RFC
  /// 8166 4.5.3).
  bool build(const wire::Header& call, ReplyPayload& payload, const ReplyTerms& terms);

  std::span<const RemoteWrite> writes() const { return writes_; }
  std::span<const View> parts() const { return parts_; }
  std::optional<std::uint32_t> invalidate() const { return invalidate_; }

 private:
  bool reduce(const wire::Header& call, ReplyPayload& payload);
  bool reduce_item(ReplyPayload::Item& item, ReplyPayload& payload,
                   std::span<wire::Segment> segments);
  bool place_stream(ReplyPayload& payload, const ReplyTerms& terms);
  bool place_in_reply_chunk(ReplyPayload& payload);
  void bend_lists(const wire::Header& call);
  void bend_writes(std::size_t first);
  void bend_payload(ReplyPayload& payload, const ReplyTerms& terms);
  void bend_item(const ReplyPayload::Item& item, ReplyPayload& payload, std::uint64_t room);
  void bend_reduced(ReplyPayload::Item& item, ReplyPayload& payload);
  void encode_header(const wire::Header& call, const ReplyTerms& terms);
  std::optional<std::uint32_t> pick_stag(const wire::Header& call, const ReplyTerms& terms) const;
  bool deviates(Deviation deviation) const { return deviations_.has(deviation); }

  const Deviations& deviations_;
  wire::Header header_;
  Bytes header_bytes_;
  bool reports_error_ = false;  // the RPC reply is one that has no results
  Bytes spoiled_;               // octets that a deviation sends instead of the right ones
  Bytes moved_;                 // octets that a deviation moves between a chunk and the stream
  std::vector<View> item_parts_;
  std::vector<View> parts_;
  std::vector<RemoteWrite> writes_;
  std::optional<std::uint32_t> invalidate_;
};

}  // namespace steertag::peer
