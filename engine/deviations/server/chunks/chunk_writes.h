// The RDMA Writes of a reply into one chunk of its call.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "deviations/server/server_change.h"

namespace steertag::deviations {

class ChunkWrites {
 public:
  /// `offered` is the chunk as the call has it. Both must outlive this.
  ChunkWrites(Departing& reply, std::span<const wire::Segment> offered);

  std::span<const wire::Segment> offered() const { return offered_; }
  std::uint64_t room() const { return wire::chunk_length(offered_); }
  bool empty() const { return mine_.empty(); }
  std::size_t size() const { return mine_.size(); }
  Departing::Write& operator[](std::size_t index) { return reply_.writes[mine_[index]]; }
  /// All that is written, in order.
  Bytes octets() const;
  /// Writes `octets` over `segments` instead. Returns these with the lengths that were placed.
  std::vector<wire::Segment> refill(View octets, std::vector<wire::Segment> segments);

 private:
  void find_mine();

  Departing& reply_;
  std::span<const wire::Segment> offered_;
  std::vector<std::size_t> mine_;  // indices of the reply's writes
};

/// Calls `change` for each write chunk that a reply fills, and for the chunk as it is returned.
void each_filled_chunk(Departing& reply,
                       const std::function<void(ChunkWrites&, wire::DraftChunk& returned)>& change);

/// The same for the reply chunk of an RDMA_NOMSG.
void filled_reply_chunk(
    Departing& reply, const std::function<void(ChunkWrites&, wire::DraftChunk& returned)>& change);

}  // namespace steertag::deviations
