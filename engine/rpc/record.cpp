// Writes and reassembles marked records.
#include "rpc/record.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::rpc {

void append_record(Bytes& out, View message, std::size_t fragment_octets) {
  const std::size_t most = std::clamp<std::size_t>(fragment_octets, 1, kMostFragmentOctets);
  wire::Writer writer(out);
  do {
    const std::size_t length = std::min(most, message.size());
    writer.u32(record_mark(static_cast<std::uint32_t>(length), length == message.size()));
    writer.raw(message.first(length));
    message = message.subspan(length);
  } while (!message.empty());
}

std::optional<std::size_t> announced_octets(View bytes) {
  if (bytes.size() < kRecordMarkOctets) return std::nullopt;
  const std::uint32_t mark = wire::load_u32(bytes.data());
  const std::size_t length = mark & kMostFragmentOctets;
  if (mark == length) return std::nullopt;  // not the last
  return length;
}

std::optional<View> whole_record(View bytes, std::size_t record_limit) {
  const auto length = announced_octets(bytes);
  if (!length || *length > record_limit || *length > bytes.size() - kRecordMarkOctets)
    return std::nullopt;
  return bytes.subspan(kRecordMarkOctets, *length);
}

void RecordReader::next() {
  if (!complete_) return;
  complete_ = false;
  fragments_ = 0;
  record_.clear();
}

void RecordReader::restart() {
  Bytes memory = std::move(record_);
  memory.clear();
  *this = RecordReader(limit_);
  record_ = std::move(memory);
}

void RecordReader::end_fragment() {
  in_fragment_ = false;
  mark_octets_ = 0;
  complete_ = last_;
}

void RecordReader::begin_fragment(std::uint64_t mark_offset) {
  const std::uint32_t mark = wire::load_u32(mark_.data());
  fragment_left_ = mark & kMostFragmentOctets;
  last_ = (mark & ~static_cast<std::uint32_t>(kMostFragmentOctets)) != 0;
  in_fragment_ = true;
  const auto at = static_cast<std::size_t>(mark_offset);
  if (++fragments_ > kMostFragments) {
    fault_ = {wire::FaultCode::limit_exceeded, at, "fragments of a record"};
  } else if (fragment_left_ > limit_ - record_.size()) {
    fault_ = {wire::FaultCode::bad_count, at, "fragment length"};
  } else if (fragment_left_ == 0) {
    end_fragment();
  }
}

Expected<std::size_t, wire::Fault> RecordReader::take(View bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && !complete_ && !fault_) {
    const View left = bytes.subspan(used);
    const std::size_t wanted = in_fragment_ ? fragment_left_ : mark_.size() - mark_octets_;
    const View piece = left.first(std::min(wanted, left.size()));
    used += piece.size();
    if (in_fragment_) {
      record_.insert(record_.end(), piece.begin(), piece.end());
      fragment_left_ -= piece.size();
      if (fragment_left_ == 0) end_fragment();
      continue;
    }
    std::copy(piece.begin(), piece.end(),
              mark_.begin() + static_cast<std::ptrdiff_t>(mark_octets_));
    mark_octets_ += piece.size();
    if (mark_octets_ == mark_.size()) begin_fragment(stream_offset_ + used - mark_.size());
  }
  if (fault_) return Unexpected<wire::Fault>(fault_);
  stream_offset_ += used;
  return used;
}

}  // namespace steertag::rpc
