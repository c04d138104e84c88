// The payload stream of a reply.
#include "server/rdma/reply_payload.h"

#include "endpoint/limits.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, 4> kZeros{};

}  // namespace

void ReplyPayload::add_item(std::size_t first_slice, std::uint32_t length) {
  items_.push_back({stream_.size(), length, first_slice, slices_.size() - first_slice, false});
}

void ReplyPayload::rewind(std::size_t stream_bytes) {
  stream_.resize(stream_bytes);
  // An item right at the end belongs to what is kept: its octets are not in the stream, and its
  // count word is.
  while (!items_.empty() && items_.back().at > stream_bytes) {
    slices_.resize(items_.back().first_slice);
    items_.pop_back();
  }
  if (items_.empty()) slices_.clear();
}

void ReplyPayload::append(const ReplyPayload& other) {
  const std::size_t bytes = stream_.size();
  const std::size_t slices = slices_.size();
  stream_.insert(stream_.end(), other.stream_.begin(), other.stream_.end());
  slices_.insert(slices_.end(), other.slices_.begin(), other.slices_.end());
  for (Item item : other.items_) {
    item.at += bytes;
    item.first_slice += slices;
    items_.push_back(item);
  }
}

ReplyPayload ReplyPayload::tail(std::size_t stream_bytes) const {
  ReplyPayload part;
  part.stream_.assign(stream_.begin() + static_cast<std::ptrdiff_t>(stream_bytes), stream_.end());
  for (Item item : items_) {
    if (item.at <= stream_bytes) continue;
    const auto first = slices_.begin() + static_cast<std::ptrdiff_t>(item.first_slice);
    item.at -= stream_bytes;
    item.first_slice = part.slices_.size();
    part.slices_.insert(part.slices_.end(), first,
                        first + static_cast<std::ptrdiff_t>(item.slice_count));
    part.items_.push_back(item);
  }
  return part;
}

void ReplyPayload::clear() {
  stream_.clear();
  slices_.clear();
  items_.clear();
  tickets_.clear();
  if (stream_.capacity() > kKeptBufferBytes) Bytes().swap(stream_);
}

std::size_t ReplyPayload::held_bytes() const {
  std::size_t total = stream_.capacity();
  for (const Item& item : items_) total += item.length;
  return total;
}

std::size_t ReplyPayload::size() const {
  std::size_t total = stream_.size();
  for (const Item& item : items_) {
    if (!item.reduced) total += wire::roundup4(item.length);
  }
  return total;
}

void ReplyPayload::item_parts(const Item& item, std::vector<View>& parts) const {
  for (std::size_t i = 0; i < item.slice_count; ++i) {
    parts.push_back(slices_[item.first_slice + i].bytes);
  }
}

void ReplyPayload::stream_parts(std::vector<View>& parts) const {
  std::size_t from = 0;
  for (const Item& item : items_) {
    if (item.reduced) continue;
    if (item.at > from) parts.push_back(View(stream_).subspan(from, item.at - from));
    from = item.at;
    item_parts(item, parts);
    const std::size_t roundup = wire::roundup4(item.length) - item.length;
    if (roundup > 0) parts.push_back(View(kZeros).first(roundup));
  }
  if (from < stream_.size()) parts.push_back(View(stream_).subspan(from));
}

}  // namespace steertag::peer
