// The form of a reply.
#include "server/rdma/reply_plan.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, 4> kFourZeros{};
// RPC reply header with an AUTH_NONE verifier, and a status word: what a reply cannot do without.
constexpr std::size_t kReplyHeaderBytes = 28;

/// Keeps the first `length` octets of the parts from `first` on.
void cut(std::vector<View>& parts, std::size_t first, std::uint64_t length) {
  for (std::size_t i = first; i < parts.size(); ++i) {
    parts[i] = parts[i].first(std::min<std::uint64_t>(parts[i].size(), length));
    length -= parts[i].size();
  }
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

  constexpr std::size_t kErrorBytes = 24;  // RFC 5531 9: no results follow an error
  reports_error_ =
      payload.size() == kErrorBytes && wire::load_u32(payload.stream().data() + 20) != 0;
  bend_payload(payload, terms);
  if (!reduce(call, payload) || !place_stream(payload, terms)) return false;
  bend_lists(call);
  invalidate_ = pick_stag(call, terms);
  encode_header(call, terms);
  return true;
}

bool ReplyPlan::reduce(const wire::Header& call, ReplyPayload& payload) {
  std::size_t next = 0;
  for (std::size_t chunk = 0; chunk < call.write_list.size(); ++chunk) {
    const std::span<wire::Segment> segments = header_.write_list.at(chunk);
    if (chunk == 0 && call.write_list.size() > 1 && deviates(Deviation::write_chunks_shifted)) {
      mark_unused(segments);
      continue;
    }
    if (chunk > 0 && deviates(Deviation::second_write_chunk_ignored)) {
      ++next;  // the result stays inline
      mark_unused(segments);
      continue;
    }
    if (next >= payload.items().size() || deviates(Deviation::write_chunk_ignored)) {
      // RFC 8166 4.3.2.2: no eligible result is left.
      if (!deviates(Deviation::unused_write_lengths_kept)) mark_unused(segments);
      continue;
    }
    ReplyPayload::Item& item = payload.items()[next++];
    if (segments.empty()) {  // RFC 8166 4.3.2.3: an empty chunk asks for this item inline
      if (deviates(Deviation::empty_chunk_passed_over)) --next;
      if (deviates(Deviation::empty_chunk_swallows_result)) item.reduced = true;
      continue;
    }
    if (!reduce_item(item, payload, segments)) return false;
  }
  return !deviates(Deviation::results_beyond_list_refused) || call.write_list.size() == 0 ||
         next >= payload.items().size();
}

bool ReplyPlan::reduce_item(ReplyPayload::Item& item, ReplyPayload& payload,
                            std::span<wire::Segment> segments) {
  const std::uint64_t room = wire::chunk_length(segments);
  item_parts_.clear();
  payload.item_parts(item, item_parts_);
  if (room < item.length) {
    if (!deviates(Deviation::small_write_chunk_cut)) return false;
    cut(item_parts_, 0, room);
  }
  bend_item(item, payload, room);
  // RFC 8166 3.4.6.2: exactly the item's octets, never its roundup.
  const std::size_t roundup = wire::roundup4(item.length) - item.length;
  const std::size_t first = writes_.size();
  if (deviates(Deviation::segments_backwards)) std::reverse(segments.begin(), segments.end());
  if (deviates(Deviation::segments_half_filled) &&
      room >= 2 * std::uint64_t{item.length} + 2 * segments.size()) {
    for (wire::Segment& segment : segments) segment.length = (segment.length + 1) / 2;
  }
  const wire::Segment last = segments.back();
  if (deviates(Deviation::pad_written) && room >= item.length + roundup) {
    // Placed, but not told: the returned lengths stay those of the item.
    std::vector<View> padded = item_parts_;
    padded.push_back(View(kFourZeros).first(roundup));
    std::vector<wire::Segment> filled(segments.begin(), segments.end());
    fill_chunk(padded, filled, writes_);
    std::vector<RemoteWrite> untold;
    fill_chunk(item_parts_, segments, untold);
  } else {
    fill_chunk(item_parts_, segments, writes_);
  }
  if (deviates(Deviation::segments_backwards)) std::reverse(segments.begin(), segments.end());
  if (deviates(Deviation::pad_counted)) {
    for (wire::Segment& segment : segments)
      segment.length = static_cast<std::uint32_t>(wire::roundup4(segment.length));
  }
  if (deviates(Deviation::write_beyond_chunk))
    writes_.push_back({View(kFourZeros), last.handle, last.offset + last.length});
  bend_writes(first);
  item.reduced = true;
  bend_reduced(item, payload);
  return true;
}

bool ReplyPlan::place_stream(ReplyPayload& payload, const ReplyTerms& terms) {
  const std::size_t header_bytes = wire::encoded_size(header_);
  if (header_bytes > terms.threshold_bytes) return false;
  const bool fits = header_bytes + payload.size() <= terms.threshold_bytes;
  if (fits || deviates(Deviation::inline_above_threshold)) {
    header_.proc = wire::Procedure::msg;
    if (!deviates(Deviation::reply_lengths_kept)) mark_unused(header_.reply_chunk);
    payload.stream_parts(parts_);
    return true;
  }
  // RFC 8166 3.5.3: it must go to the reply chunk.
  if (deviates(Deviation::long_reply_refused)) return false;
  return header_.has_reply_chunk && place_in_reply_chunk(payload);
}

bool ReplyPlan::place_in_reply_chunk(ReplyPayload& payload) {
  header_.proc = wire::Procedure::nomsg;
  item_parts_.clear();
  payload.stream_parts(item_parts_);
  const std::uint64_t room = wire::chunk_length(header_.reply_chunk);
  std::uint64_t size = payload.size();
  if (room < size) {
    if (!deviates(Deviation::small_reply_chunk_overrun)) return false;
    size = room;
  }
  if (deviates(Deviation::long_reply_cut) && size > kReplyHeaderBytes) size -= 4;
  // RFC 8166 3.5.3: roundup belongs into a reply chunk.
  if (deviates(Deviation::long_reply_without_roundup) && !payload.items().empty()) {
    const ReplyPayload::Item& item = payload.items().back();
    if (!item.reduced) size -= wire::roundup4(item.length) - item.length;
  }
  cut(item_parts_, 0, size);
  const std::vector<wire::Segment> offered = header_.reply_chunk;
  fill_chunk(item_parts_, header_.reply_chunk, writes_);
  if (deviates(Deviation::reply_lengths_kept)) header_.reply_chunk = offered;
  if (deviates(Deviation::nomsg_with_payload)) {
    cut(item_parts_, 0, 4 * kReplyHeaderBytes);
    parts_.insert(parts_.end(), item_parts_.begin(), item_parts_.end());
  }
  return true;
}

std::optional<std::uint32_t> ReplyPlan::pick_stag(const wire::Header& call,
                                                  const ReplyTerms& terms) const {
  if (!terms.may_invalidate) return std::nullopt;
  // RFC 8797 4.1: only an STag of this call. One that was not offered for any octet may name
  // nothing.
  std::optional<std::uint32_t> stag;
  for (const wire::ReadSegment& segment : call.read_list) {
    if (!stag && segment.target.length > 0) stag = segment.target.handle;
  }
  for (std::size_t chunk = 0; chunk < call.write_list.size(); ++chunk) {
    for (const wire::Segment& segment : call.write_list[chunk]) {
      if (!stag && segment.length > 0) stag = segment.handle;
    }
  }
  for (const wire::Segment& segment : call.reply_chunk) {
    if (!stag && segment.length > 0) stag = segment.handle;
  }
  if (stag && deviates(Deviation::invalidates_unknown_stag)) return *stag ^ 0x00ff0000;
  if (stag && deviates(Deviation::invalidates_earlier_call) && terms.earlier_stag)
    return terms.earlier_stag;
  return stag;
}

void ReplyPlan::encode_header(const wire::Header& call, const ReplyTerms& terms) {
  if (deviates(Deviation::reply_to_other_call) && terms.other_xid) header_.xid = *terms.other_xid;
  if (terms.first_xid) header_.xid = *terms.first_xid;
  const bool padded = deviates(Deviation::session_padded) && terms.in_session;
  if (padded && header_.proc == wire::Procedure::msg) header_.proc = wire::Procedure::msgp;
  if (deviates(Deviation::read_list_in_reply)) header_.read_list = call.read_list;
  header_bytes_.clear();
  wire::encode(header_, header_bytes_);
  const bool in_records =
      deviates(Deviation::session_in_records) && terms.in_session && !terms.begins_slot;
  if (in_records && header_.proc == wire::Procedure::msg) {
    wire::Writer writer(header_bytes_);
    writer.u32(0x80000000 | static_cast<std::uint32_t>(total_length(parts_)));
  }
  if (deviates(Deviation::rpc_error_without_header) && reports_error_) header_bytes_.clear();
  parts_.front() = header_bytes_;
}

}  // namespace steertag::peer
