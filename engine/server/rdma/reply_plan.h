// The form of a reply (RFC 8166 3.5.3), and the header that describes it.
// What goes into write chunks, what inline, and what into the reply chunk.
#pragma once

#include <optional>
#include <vector>

#include "endpoint/chunk.h"
#include "server/rdma/reply_payload.h"
#include "wire/header.h"

namespace steertag::peer {

/// What the connection allows.
struct ReplyTerms {
  std::uint32_t grant = 1;
  std::uint32_t threshold_bytes = 1024;
  bool may_invalidate = false;  // both sides set R (RFC 8797 4.1)
};

/// A reply that is ready to be posted: the writes in order, then one Send of `parts`. Views point
/// into the plan and the payload; both must stay until everything completed. Reused without
/// allocating.
class ReplyPlan {
 public:
  /// False when the call's chunks cannot take the reply: nothing may be written then (RFC
  /// 8166 4.5.3).
  bool build(const wire::Header& call, ReplyPayload& payload, const ReplyTerms& terms);

  std::span<const RemoteWrite> writes() const { return writes_; }
  std::span<const View> parts() const { return parts_; }
  std::optional<std::uint32_t> invalidate() const { return invalidate_; }

 private:
  bool reduce(const wire::Header& call, ReplyPayload& payload);
  bool reduce_item(ReplyPayload::Item& item, const ReplyPayload& payload,
                   std::span<wire::Segment> segments);
  bool place_stream(const ReplyPayload& payload, const ReplyTerms& terms);
  bool place_in_reply_chunk(const ReplyPayload& payload);

  wire::Header header_;
  Bytes header_bytes_;
  std::vector<View> item_parts_;
  std::vector<View> parts_;
  std::vector<RemoteWrite> writes_;
  std::optional<std::uint32_t> invalidate_;
};

}  // namespace steertag::peer
