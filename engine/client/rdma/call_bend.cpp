// What deviations do with the chunks of a call before it is sent.
#include <algorithm>
#include <array>

#include "client/rdma/outgoing_call.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kSmallInlineBytes = 1024;
// Of chunks that no item is for.
constexpr std::uint32_t kNeedlessBytes = 64;
constexpr std::array<std::byte, 8> kStrayOctets{};
constexpr std::size_t kReadListAt = 16;  // in a header of RDMA_MSG or RDMA_NOMSG

/// Defects that no call would survive show up here only, so that a client completes elsewhere.
bool small(const wire::Negotiated& limits) {
  return limits.to_server_bytes == kSmallInlineBytes;
}

/// As high as it takes to end behind 64 bits.
void wrap(std::span<wire::Segment> segments) {
  for (wire::Segment& each : segments) each.offset = ~std::uint64_t{0} - each.length / 2;
}

}  // namespace

void OutgoingCall::bend_form(CallForm& form, const wire::Negotiated& limits) {
  const std::size_t without_lists =
      wire::kSmallestHeaderBytes + request_.stream.size() + wire::roundup4(request_.item.size());
  if (deviates(Deviation::chunk_lists_uncounted) && without_lists <= limits.to_server_bytes)
    form.read_chunk = form.long_call = false;
  const bool is_small = small(limits);
  if (deviates(Deviation::reply_chunk_missing)) form.reply_chunk = false;
  if (deviates(Deviation::reply_chunk_needless) && !form.reply_chunk) {
    form.reply_chunk = true;
    form.reply_chunk_bytes = kSmallInlineBytes;
  }
  if (is_small && deviates(Deviation::write_chunk_needless) && request_.reply.eligible == 0) {
    form.write_chunk = true;
    form.write_chunk_bytes = kNeedlessBytes;
  }
  if (is_small && deviates(Deviation::seventeen_segments))
    request_.wish.segments = kMostRequestSegments + 1;
  if (deviates(Deviation::roundup_in_read_chunk)) request_.wish.roundup_in_read_chunk = true;
  if (deviates(Deviation::write_chunk_rounded_up))
    form.write_chunk_bytes = wire::roundup4(form.write_chunk_bytes);
  if (deviates(Deviation::write_chunk_rounded_down) && form.write_chunk_bytes >= 4)
    form.write_chunk_bytes -= form.write_chunk_bytes % 4;
  const bool rounded = deviates(Deviation::roundup_counted);
  const bool none = deviates(Deviation::call_count_word_zero) && small(limits);
  if (!request_.has_item || !(rounded || none)) return;
  std::size_t counted = request_.item.size();
  if (rounded) {
    request_.wish.roundup_in_read_chunk = form.read_chunk;
    if (form.read_chunk) counted = wire::roundup4(counted);
  }
  if (none && form.read_chunk) counted = 0;
  // The count word is the stream's last. Built anew for each connection.
  wire::store_u32(request_.stream.data() + request_.stream.size() - 4,
                  static_cast<std::uint32_t>(counted));
}

void OutgoingCall::bend_lists(const wire::Negotiated& limits) {
  std::vector<wire::ReadSegment>& list = header_.read_list;
  const bool odd = argument_ && request_.item.size() % 4 != 0;
  const bool in_message = deviates(Deviation::position_in_message) && small(limits) &&
                          header_.proc == wire::Procedure::msg;
  Bytes header;
  if (in_message) wire::encode(header_, header);
  for (wire::ReadSegment& each : list) {
    if (each.position == 0) continue;
    if (odd && deviates(Deviation::position_unaligned)) ++each.position;
    each.position += static_cast<std::uint32_t>(header.size());
  }
  if (odd && deviates(Deviation::read_chunk_short)) --list.back().target.length;
  if (deviates(Deviation::long_call_position_four)) {
    const auto data = std::find_if(
        list.begin(), list.end(), [](const wire::ReadSegment& each) { return each.position != 0; });
    if (data - list.begin() > 1) (data - 1)->position = 4;
  }
  bend_long_call();
  if (small(limits)) bend_header();
  if (!offers_no_room || !deviates(Deviation::unused_chunk_offered_again)) return;
  for (std::size_t chunk = 0; chunk < header_.write_list.size(); ++chunk) {
    for (wire::Segment& each : header_.write_list.at(chunk)) each.length = 0;
  }
}

// What no server need take: only where the thresholds are the least, so that a use without them
// works.
void OutgoingCall::bend_needs(const wire::Negotiated& limits) {
  if (!small(limits)) return;
  std::vector<wire::ReadSegment>& list = header_.read_list;
  const bool is_long = header_.proc == wire::Procedure::nomsg;
  if (deviates(Deviation::long_call_with_octets) && is_long) parts_.emplace_back(kStrayOctets);
  if (deviates(Deviation::read_chunk_needless) && list.empty())
    list.push_back({static_cast<std::uint32_t>(request_.stream.size()), {xid_, 0, 0}});
  if (deviates(Deviation::two_write_chunks) && header_.write_list.size() == 1) {
    const std::span<const wire::Segment> first = header_.write_list[0];
    header_.write_list.add(std::vector<wire::Segment>(first.begin(), first.end()));
  }
  if (!deviates(Deviation::two_read_chunks) || !argument_) return;
  wire::ReadSegment rest = list.back();
  const std::uint32_t half = rest.target.length / 8 * 4;
  list.back().target.length = half;
  rest.position += half;
  rest.target.offset += half;
  rest.target.length -= half;
  list.push_back(rest);
}

void OutgoingCall::bend_sent(const wire::Negotiated& limits) {
  const bool is_small = small(limits);
  if (is_small && argument_ && deviates(Deviation::read_chunk_closed_early))
    argument_->invalidate();
}

void OutgoingCall::ask_for_more() {
  request_.wish.reply_chunk = Use::always;
  request_.reply.payload += 4 * kSmallInlineBytes;
}

void OutgoingCall::bend_long_call() {
  if (header_.proc != wire::Procedure::nomsg) return;
  wire::ReadSegment* last = nullptr;
  for (wire::ReadSegment& each : header_.read_list) {
    if (each.position != 0) continue;
    last = &each;
    if (deviates(Deviation::long_call_elsewhere)) each.position = 4;
  }
  if (last && deviates(Deviation::long_call_cut)) --last->target.length;
}

void OutgoingCall::bend_header() {
  if (deviates(Deviation::call_xid_differs)) ++header_.xid;
  if (deviates(Deviation::call_vers_two)) header_.vers = 2;
  const bool is_msg = header_.proc == wire::Procedure::msg;
  if (is_msg && deviates(Deviation::call_msgp)) header_.proc = wire::Procedure::msgp;
  if (argument_ && deviates(Deviation::call_chunk_beyond_item))
    header_.read_list.back().target.length += 8;
  if (!deviates(Deviation::call_segment_wraps)) return;
  for (std::size_t chunk = 0; chunk < header_.write_list.size(); ++chunk)
    wrap(header_.write_list.at(chunk));
  wrap(header_.reply_chunk);
}

void OutgoingCall::bend_octets(const wire::Negotiated& limits) {
  if (!deviates(Deviation::call_presence_word_swapped) || !small(limits)) return;
  const auto word = header_bytes_.begin() + kReadListAt;
  std::reverse(word, word + 4);
}

}  // namespace steertag::peer
