// What deviations do with the chunks of a call before it is sent.
#include <algorithm>

#include "peer/client/outgoing_call.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kSmallInlineBytes = 1024;

}  // namespace

void OutgoingCall::bend_form(CallForm& form, const wire::Negotiated& limits) {
  const std::size_t without_lists =
      wire::kSmallestHeaderBytes + request_.stream.size() + wire::roundup4(request_.item.size());
  if (deviates(Deviation::chunk_lists_uncounted) && without_lists <= limits.to_server_bytes)
    form.read_chunk = form.long_call = false;
  if (deviates(Deviation::reply_chunk_missing)) form.reply_chunk = false;
  if (deviates(Deviation::write_chunk_rounded_down) && form.write_chunk_bytes >= 4)
    form.write_chunk_bytes -= form.write_chunk_bytes % 4;
  if (!deviates(Deviation::roundup_counted) || !request_.has_item) return;
  // The count word is the stream's last. Built anew for each connection.
  const std::size_t length = request_.item.size();
  request_.wish.roundup_in_read_chunk = form.read_chunk;
  const std::size_t counted = form.read_chunk ? wire::roundup4(length) : length;
  wire::store_u32(request_.stream.data() + request_.stream.size() - 4,
                  static_cast<std::uint32_t>(counted));
}

void OutgoingCall::bend_lists(const wire::Negotiated& limits) {
  std::vector<wire::ReadSegment>& list = header_.read_list;
  const bool odd = argument_ && request_.item.size() % 4 != 0;
  const bool in_message = deviates(Deviation::position_in_message) &&
                          limits.to_server_bytes == kSmallInlineBytes &&
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
  if (!offers_no_room || !deviates(Deviation::unused_chunk_offered_again)) return;
  for (std::size_t chunk = 0; chunk < header_.write_list.size(); ++chunk) {
    for (wire::Segment& each : header_.write_list.at(chunk)) each.length = 0;
  }
}

}  // namespace steertag::peer
