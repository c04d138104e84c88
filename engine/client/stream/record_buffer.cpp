// Records in the place where they were received.
#include "client/stream/record_buffer.h"

#include <algorithm>
#include <cstring>

#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kMarkOctets = 4;

}  // namespace

MutableView RecordBuffer::room() {
  const std::size_t have = end_ - begin_;
  if (have == 0) begin_ = end_ = 0;
  // Not beyond the record that has begun: what follows it would have to be moved.
  std::size_t more = wanted_ > have ? wanted_ - have : kRecordStartBytes;
  more = std::min(more, std::max(have, kRecordStartBytes));
  if (end_ + more > octets_.size()) {
    if (begin_ > 0) std::memmove(octets_.data(), octets_.data() + begin_, have);
    begin_ = 0;
    end_ = have;
    if (end_ + more > octets_.size()) octets_.resize(end_ + more);
  }
  return MutableView(octets_).subspan(end_, more);
}

Expected<std::optional<View>, wire::Fault> RecordBuffer::next() {
  if (in_fragments_) return next_of_fragments();
  wanted_ = 0;
  const View have = View(octets_).subspan(begin_, end_ - begin_);
  if (have.size() < kMarkOctets) return std::nullopt;
  const std::uint32_t mark = wire::load_u32(have.data());
  const std::size_t length = mark & rpc::kMostFragmentOctets;
  const bool last = mark != length;
  if (!last || length > limit_) return next_of_fragments();
  if (have.size() < kMarkOctets + length) {
    wanted_ = kMarkOctets + length;
    return std::nullopt;
  }
  begin_ += kMarkOctets + length;
  return have.subspan(kMarkOctets, length);
}

Expected<std::optional<View>, wire::Fault> RecordBuffer::next_of_fragments() {
  in_fragments_ = true;
  if (reader_.complete()) {
    reader_.next();
    in_fragments_ = false;
    return next();
  }
  const auto taken = reader_.take(View(octets_).subspan(begin_, end_ - begin_));
  if (!taken) return tl::unexpected(taken.error());
  begin_ += *taken;
  if (!reader_.complete()) return std::nullopt;
  return reader_.record();
}

void RecordBuffer::clear() {
  begin_ = end_ = wanted_ = 0;
  in_fragments_ = false;
  reader_ = rpc::RecordReader(limit_);
}

}  // namespace steertag::peer
