// What deviations do to a reply's lists and octets after the conforming plan was made.
#include "server/rdma/reply_plan.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kStatusEnd = 28;  // RPC reply header and status word

}  // namespace

void ReplyPlan::bend_payload(ReplyPayload& payload, const ReplyTerms& terms) {
  Bytes& stream = payload.stream();
  if (terms.first_xid && stream.size() >= 4) wire::store_u32(stream.data(), *terms.first_xid);
  if (deviates(Deviation::reduces_ineligible_result) && payload.items().empty() &&
      stream.size() > kStatusEnd) {
    auto owned = std::make_shared<Bytes>(stream.begin() + kStatusEnd, stream.end());
    stream.resize(kStatusEnd);
    const std::size_t first = payload.slices().size();
    payload.slices().push_back({View(*owned), owned});
    payload.add_item(first, static_cast<std::uint32_t>(owned->size()));
  }
}

void ReplyPlan::bend_item(const ReplyPayload::Item& item, ReplyPayload& payload,
                          std::uint64_t room) {
  const auto data = payload.stream().begin() + static_cast<std::ptrdiff_t>(item.at);
  moved_.clear();
  if (deviates(Deviation::count_word_in_chunk) && room >= std::uint64_t{item.length} + 4) {
    moved_.assign(data - 4, data);
    item_parts_.insert(item_parts_.begin(), View(moved_));
  }
  if (deviates(Deviation::item_tail_left_inline) && item.length > 4 &&
      item_parts_.back().size() >= 4) {
    View& last = item_parts_.back();
    moved_.assign(last.end() - 4, last.end());
    last = last.first(last.size() - 4);
  }
}

void ReplyPlan::bend_reduced(ReplyPayload::Item& item, ReplyPayload& payload) {
  Bytes& stream = payload.stream();
  const auto data = stream.begin() + static_cast<std::ptrdiff_t>(item.at);
  if (deviates(Deviation::length_word_removed) ||
      (deviates(Deviation::count_word_in_chunk) && !moved_.empty())) {
    stream.erase(data - 4, data);
    item.at -= 4;
  } else if (deviates(Deviation::item_tail_left_inline)) {
    stream.insert(data, moved_.begin(), moved_.end());
  } else if (deviates(Deviation::roundup_left_inline)) {
    stream.insert(data, wire::roundup4(item.length) - item.length, std::byte{0});
  }
}

void ReplyPlan::bend_writes(std::size_t first) {
  if (writes_.size() == first) return;
  RemoteWrite& write = writes_[first];
  if (deviates(Deviation::read_data_corrupted)) {
    spoiled_.assign(write.from.begin(), write.from.end());
    spoiled_.front() ^= std::byte{0xff};
    write.from = spoiled_;
  }
  if (deviates(Deviation::read_halves_swapped) && writes_.size() >= first + 2 &&
      writes_[first + 1].from.size() == write.from.size())
    std::swap(write.from, writes_[first + 1].from);
}

void ReplyPlan::bend_lists(const wire::Header& call) {
  wire::WriteList& list = header_.write_list;
  if (deviates(Deviation::write_list_dropped)) list.clear();
  if (deviates(Deviation::write_lengths_kept)) list = call.write_list;
  const auto keep_only = [&](auto&& wanted) {
    wire::WriteList kept;
    for (std::size_t chunk = 0; chunk < list.size(); ++chunk) {
      if (wanted(list[chunk])) kept.add(list[chunk]);
    }
    list = kept;
  };
  if (deviates(Deviation::unused_write_dropped))
    keep_only([](auto chunk) { return chunk.empty() || wire::chunk_length(chunk) > 0; });
  if (deviates(Deviation::empty_write_chunk_dropped))
    keep_only([](auto chunk) { return !chunk.empty(); });
  if (deviates(Deviation::segments_merged)) {
    wire::WriteList first_only;
    for (std::size_t chunk = 0; chunk < list.size(); ++chunk)
      first_only.add(list[chunk].first(std::min<std::size_t>(1, list[chunk].size())));
    list = first_only;
  }
  for (std::size_t chunk = 0; chunk < list.size(); ++chunk) {
    for (wire::Segment& segment : list.at(chunk)) {
      if (deviates(Deviation::write_handle_changed)) segment.handle ^= 1;
      if (deviates(Deviation::write_offset_zeroed)) segment.offset = 0;
    }
  }
  if (deviates(Deviation::reply_chunk_dropped)) {
    header_.has_reply_chunk = false;
    header_.reply_chunk.clear();
  }
  if (deviates(Deviation::reply_chunk_invented) && !call.has_reply_chunk) {
    header_.has_reply_chunk = true;
    header_.reply_chunk.push_back({});
  }
}

}  // namespace steertag::peer
