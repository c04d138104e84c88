// What deviations do to a call before and after it is pulled.
#include <algorithm>

#include "server/rdma/server_connection.h"
#include "wire/xdr.h"

namespace steertag::peer {

bool ServerConnection::refuses_shape(const wire::Header& header) const {
  constexpr std::size_t kMost = 15;  // RFC 8267 6.4.2 has sixteen
  bool refused = false;
  if (deviates(Deviation::sixteen_segments_refused)) {
    refused = header.reply_chunk.size() > kMost;
    for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
      refused |= header.write_list[chunk].size() > kMost;
  }
  if (deviates(Deviation::write_list_beside_reply_chunk_refused))
    refused |= header.write_list.size() > 0 && header.has_reply_chunk;
  if (deviates(Deviation::second_read_chunk_refused) && !header.read_list.empty())
    refused |= header.read_list.front().position != header.read_list.back().position;
  return refused;
}

void ServerConnection::bend_read_list(Transaction& call) {
  std::vector<wire::ReadSegment>& list = call.header.read_list;
  if (deviates(Deviation::second_read_segment_ignored) && list.size() > 1) {
    // The other segments are left unread: the item keeps the size that its count word promises.
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].position == list[i - 1].position) list[i].target = list.front().target;
    }
  }
  if (deviates(Deviation::read_segments_swapped)) std::reverse(list.begin(), list.end());
  if (deviates(Deviation::read_position_ignored) && call.header.proc == wire::Procedure::msg) {
    const auto end = static_cast<std::uint32_t>(call.payload.size());
    for (wire::ReadSegment& segment : list) segment.position = end;
  }
}

void ServerConnection::bend_message(Transaction& call) {
  if (!call.sink || call.pull.chunks.empty()) return;
  const MutableView message = call.sink->bytes().first(call.pull.size);
  const ReadChunk& chunk = call.pull.chunks.front();
  const std::size_t at = chunk.position;
  if (at < 4 || at + chunk.length > message.size() || chunk.length == 0) return;
  if (deviates(Deviation::read_pad_kept)) {
    constexpr std::size_t kWriteCountBefore = 12;  // WRITE3args: count, stable, count of the data
    const std::uint32_t count = wire::load_u32(message.data() + at - 4);
    const auto whole = static_cast<std::uint32_t>(chunk.length);
    wire::store_u32(message.data() + at - 4, whole);
    if (at >= kWriteCountBefore && wire::load_u32(message.data() + at - kWriteCountBefore) == count)
      wire::store_u32(message.data() + at - kWriteCountBefore, whole);
  }
  if (deviates(Deviation::write_data_shifted)) {
    const auto first = message.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(first, first + static_cast<std::ptrdiff_t>(chunk.length) - 1,
                first + static_cast<std::ptrdiff_t>(chunk.length));
  }
}

}  // namespace steertag::peer
