// The RDMA Writes of a reply into one chunk of its call.
#include "deviations/server/chunks/chunk_writes.h"

#include <algorithm>

#include "endpoint/chunk.h"

namespace steertag::deviations {

ChunkWrites::ChunkWrites(Departing& reply, std::span<const wire::Segment> offered)
    : reply_(reply), offered_(offered) {
  find_mine();
}

void ChunkWrites::find_mine() {
  mine_.clear();
  for (std::size_t i = 0; i < reply_.writes.size(); ++i) {
    const Departing::Write& write = reply_.writes[i];
    const bool inside = std::ranges::any_of(offered_, [&](const wire::Segment& segment) {
      return write.stag == segment.handle && write.offset >= segment.offset &&
             write.offset - segment.offset < segment.length;
    });
    if (inside) mine_.push_back(i);
  }
}

Bytes ChunkWrites::octets() const {
  Bytes all;
  for (const std::size_t i : mine_)
    all.insert(all.end(), reply_.writes[i].octets.begin(), reply_.writes[i].octets.end());
  return all;
}

std::vector<wire::Segment> ChunkWrites::refill(View octets, std::vector<wire::Segment> segments) {
  std::vector<peer::RemoteWrite> writes;
  peer::fill_chunk({&octets, 1}, segments, writes);
  const std::size_t first = mine_.empty() ? reply_.writes.size() : mine_.front();
  std::for_each(mine_.rbegin(), mine_.rend(), [&](std::size_t i) {
    reply_.writes.erase(reply_.writes.begin() + static_cast<std::ptrdiff_t>(i));
  });
  auto place = reply_.writes.begin() + static_cast<std::ptrdiff_t>(first);
  for (const peer::RemoteWrite& write : writes) {
    const Departing::Write made{Bytes(write.from.begin(), write.from.end()), write.stag,
                                write.offset};
    place = reply_.writes.insert(place, made) + 1;
  }
  find_mine();
  return segments;
}

void each_filled_chunk(
    Departing& reply, const std::function<void(ChunkWrites&, wire::DraftChunk& returned)>& change) {
  if (!reply.is_reply()) return;
  const std::size_t chunks = std::min(reply.call->write_list.size(), reply.draft.write_list.size());
  for (std::size_t i = 0; i < chunks; ++i) {
    ChunkWrites writes(reply, reply.call->write_list[i]);
    if (!writes.empty()) change(writes, reply.draft.write_list[i]);
  }
}

void filled_reply_chunk(
    Departing& reply, const std::function<void(ChunkWrites&, wire::DraftChunk& returned)>& change) {
  constexpr auto kNomsgWord = static_cast<std::uint32_t>(wire::Procedure::nomsg);
  if (!reply.is_reply() || reply.draft.proc != kNomsgWord || !reply.draft.reply_chunk) return;
  ChunkWrites writes(reply, reply.call->reply_chunk);
  if (!writes.empty()) change(writes, *reply.draft.reply_chunk);
}

}  // namespace steertag::deviations
