// The form of a reply.
#include "server/rdma/reply_plan.h"

#include "wire/xdr.h"

namespace steertag::peer {
namespace {

/// RFC 8797 4.1: only an STag of this call. One that was not offered for any octet may name
/// nothing.
std::optional<std::uint32_t> pick_stag(const wire::Header& call) {
  for (const wire::ReadSegment& segment : call.read_list) {
    if (segment.target.length > 0) return segment.target.handle;
  }
  for (std::size_t chunk = 0; chunk < call.write_list.size(); ++chunk) {
    for (const wire::Segment& segment : call.write_list[chunk]) {
      if (segment.length > 0) return segment.handle;
    }
  }
  for (const wire::Segment& segment : call.reply_chunk) {
    if (segment.length > 0) return segment.handle;
  }
  return std::nullopt;
}

}  // namespace

bool ReplyPlan::build(const wire::Header& call, ReplyPayload& payload, const ReplyTerms& terms) {
  writes_.clear();
  parts_.clear();
  parts_.emplace_back();  // the header's place
  header_.clear();
  header_.xid = call.xid;
  header_.vers = wire::kVersion;
  header_.credit = terms.grant;
  header_.write_list = call.write_list;
  header_.has_reply_chunk = call.has_reply_chunk;
  header_.reply_chunk = call.reply_chunk;
  if (!reduce(call, payload) || !place_stream(payload, terms)) return false;
  invalidate_ = terms.may_invalidate ? pick_stag(call) : std::nullopt;
  header_bytes_.clear();
  wire::encode(header_, header_bytes_);
  parts_.front() = header_bytes_;
  return true;
}

bool ReplyPlan::reduce(const wire::Header& call, ReplyPayload& payload) {
  for (std::size_t chunk = 0; chunk < call.write_list.size(); ++chunk) {
    const std::span<wire::Segment> segments = header_.write_list.at(chunk);
    if (chunk >= payload.items().size()) {
      mark_unused(segments);  // RFC 8166 4.3.2.2: no eligible result is left
      continue;
    }
    // RFC 8166 4.3.2.3: an empty chunk asks for its item inline.
    if (segments.empty()) continue;
    if (!reduce_item(payload.items()[chunk], payload, segments)) return false;
  }
  return true;
}

bool ReplyPlan::reduce_item(ReplyPayload::Item& item, const ReplyPayload& payload,
                            std::span<wire::Segment> segments) {
  if (wire::chunk_length(segments) < item.length) return false;
  item_parts_.clear();
  payload.item_parts(item, item_parts_);
  // RFC 8166 3.4.6.2: exactly the item's octets, never its roundup.
  fill_chunk(item_parts_, segments, writes_);
  item.reduced = true;
  return true;
}

bool ReplyPlan::place_stream(const ReplyPayload& payload, const ReplyTerms& terms) {
  const std::size_t header_bytes = wire::encoded_size(header_);
  if (header_bytes > terms.threshold_bytes) return false;
  if (header_bytes + payload.size() <= terms.threshold_bytes) {
    header_.proc = wire::Procedure::msg;
    mark_unused(header_.reply_chunk);
    payload.stream_parts(parts_);
    return true;
  }
  // RFC 8166 3.5.3: it must go to the reply chunk.
  return header_.has_reply_chunk && place_in_reply_chunk(payload);
}

bool ReplyPlan::place_in_reply_chunk(const ReplyPayload& payload) {
  if (wire::chunk_length(header_.reply_chunk) < payload.size()) return false;
  header_.proc = wire::Procedure::nomsg;
  item_parts_.clear();
  // RFC 8166 3.5.3: roundup belongs into a reply chunk.
  payload.stream_parts(item_parts_);
  fill_chunk(item_parts_, header_.reply_chunk, writes_);
  return true;
}

}  // namespace steertag::peer
