// Keeps the pieces of a direction in order and without overlaps.
#include "capture/iwarp/tcp_stream.h"

#include <algorithm>
#include <utility>

namespace steertag::capture::iwarp {
namespace {

// The first position. Octets before the first captured one have positions too.
constexpr std::uint64_t kOrigin = std::uint64_t{1} << 32;

}  // namespace

void Piece::drop_before(std::uint64_t position) {
  if (position <= begin) return;
  const std::uint64_t count = std::min(position, end()) - begin;
  const std::size_t there = std::min<std::uint64_t>(count, octets.size());
  octets = octets.subspan(there);
  missing -= count - there;
  begin += count;
  starts_segment = false;
}

void Piece::drop_from(std::uint64_t position) {
  const std::uint64_t length = std::max(position, begin) - begin;
  if (length >= end() - begin) return;
  missing = length > octets.size() ? length - octets.size() : 0;
  octets = octets.first(std::min<std::uint64_t>(length, octets.size()));
}

void TcpStream::set_first(std::uint32_t sequence, bool at_start) {
  if (!placed_) {
    first_ = next_ = acknowledged_ = kOrigin + sequence;
    placed_ = true;
  }
  at_start_ = at_start_ || (at_start && position(sequence) == first_);
}

std::uint64_t TcpStream::position(std::uint32_t sequence) const {
  const std::uint32_t distance = sequence - static_cast<std::uint32_t>(next_);
  return distance < 0x80000000U ? next_ + distance : next_ - (0xffffffffU - distance) - 1;
}

bool TcpStream::near(std::uint64_t position) const {
  return position <= next_ + kMostWindow && next_ <= position + kMostWindow;
}

void TcpStream::acknowledge(std::uint64_t position) {
  acknowledged_ = std::max(acknowledged_, position);
}

void TcpStream::keep(Piece piece) {
  piece.drop_before(next_);
  auto after = kept_.upper_bound(piece.begin);
  if (after != kept_.begin()) piece.drop_before(std::prev(after)->second.piece.end());
  // Each turn passes one kept piece.
  while (!piece.empty()) {
    after = kept_.lower_bound(piece.begin);
    if (after == kept_.end() || after->first >= piece.end()) return insert(piece);
    Piece front = piece;
    front.drop_from(after->first);
    if (!front.empty()) insert(front);
    piece.drop_before(after->second.piece.end());
  }
}

void TcpStream::insert(const Piece& piece) {
  Kept kept{piece, Bytes(piece.octets.begin(), piece.octets.end())};
  kept.piece.octets = kept.octets;
  kept_bytes_ += cost(kept);
  budget_.take(cost(kept));
  kept_.emplace(piece.begin, std::move(kept));
}

void TcpStream::keep_fin(const StreamEnd& fin) {
  if (!fin_) fin_ = fin;
}

bool TcpStream::keeps_too_much() const {
  return kept_bytes_ > kMostKeptBytes || kept_.size() > kMostKeptPieces ||
         (budget_.exceeded() && !kept_.empty());
}

std::optional<std::uint64_t> TcpStream::first_needs() const {
  if (!kept_.empty()) return kept_.begin()->second.piece.needs;
  if (fin_) return fin_->needs;
  if (rst_) return rst_->needs;
  return std::nullopt;
}

TcpStream::Head TcpStream::head() {
  if (rst_ && rst_->position <= next_) {
    head_needs_ = rst_->needs;
    head_stamp_ = rst_->stamp;
    return Head::rst;
  }
  while (!kept_.empty() && kept_.begin()->second.piece.end() <= next_) {
    take_octets();
  }
  if (!kept_.empty() && kept_.begin()->first <= next_) {
    head_needs_ = kept_.begin()->second.piece.needs;
    head_stamp_ = kept_.begin()->second.piece.stamp;
    return Head::octets;
  }
  if (fin_ && fin_->position <= next_) {
    head_needs_ = fin_->needs;
    head_stamp_ = fin_->stamp;
    return Head::fin;
  }
  return Head::none;
}

void TcpStream::release_head(std::uint64_t position) {
  switch (head()) {
    case Head::none:
      break;
    case Head::octets: {
      Kept rest = take_octets();
      Piece front = rest.piece;
      front.drop_from(position);
      front.needs = 0;
      rest.piece.drop_before(front.end());
      if (!front.empty()) insert(front);
      if (!rest.piece.empty()) insert(rest.piece);
      break;
    }
    case Head::fin:
      fin_->needs = 0;
      break;
    case Head::rst:
      rst_->needs = 0;
      break;
  }
}

TcpStream::Kept TcpStream::take_octets() {
  auto node = kept_.extract(kept_.begin());
  kept_bytes_ -= cost(node.mapped());
  budget_.give(cost(node.mapped()));
  Kept kept = std::move(node.mapped());
  kept.piece.drop_before(next_);
  return kept;
}

StreamEnd TcpStream::take_fin() {
  return *std::exchange(fin_, std::nullopt);
}

StreamEnd TcpStream::take_rst() {
  return *std::exchange(rst_, std::nullopt);
}

std::optional<FrameStamp> TcpStream::skip_hole(std::uint64_t most) {
  std::optional<std::uint64_t> target;
  std::optional<FrameStamp> stamp;
  const auto consider = [&](std::uint64_t position, std::optional<FrameStamp> there) {
    if (position <= next_ || (target && *target <= position)) return;
    target = position;
    stamp = there;
  };
  if (!kept_.empty()) consider(kept_.begin()->first, kept_.begin()->second.piece.stamp);
  if (fin_) consider(fin_->position, fin_->stamp);
  if (rst_) consider(rst_->position, rst_->stamp);
  consider(acknowledged_, std::nullopt);
  consider(most, std::nullopt);
  if (target) next_ = *target;
  return stamp;
}

void TcpStream::clear() {
  budget_.give(kept_bytes_);
  kept_bytes_ = 0;
  kept_.clear();
  fin_.reset();
  rst_.reset();
}

}  // namespace steertag::capture::iwarp
