// The FPDU receiver's steps: header, payload at its destination, trailer with CRC.
#include "fabric/iwarp/fpdu.h"

#include <algorithm>
#include <cstring>

#include "fabric/iwarp/formats.h"

namespace steertag::fabric::iwarp {
namespace {

// Moves up to `room` octets from the front of `bytes`.
std::size_t move_front(View& bytes, std::byte* to, std::size_t room) {
  const std::size_t count = std::min(bytes.size(), room);
  std::memcpy(to, bytes.data(), count);
  bytes = bytes.subspan(count);
  return count;
}

}  // namespace

std::size_t mulpdu_of(std::size_t emss) {
  const std::size_t overhead = kUlpduLengthBytes + kCrcBytes + emss % 4;
  const std::size_t mulpdu = emss > overhead ? emss - overhead : 0;
  return std::clamp(mulpdu, kLeastMulpdu, kMostMulpdu);
}

std::size_t encode_trailer(std::size_t ulpdu_length, Crc32c crc, bool use_crc, std::byte* to,
                           std::byte pad_octet) {
  const std::size_t pad = pad_bytes(ulpdu_length);
  std::memset(to, std::to_integer<int>(pad_octet), pad);
  std::memset(to + pad, 0, kCrcBytes);
  if (use_crc) {
    crc.update(View(to, pad));
    const std::uint32_t value = crc.value();
    for (std::size_t i = 0; i < kCrcBytes; ++i) {
      store8(to + pad + i, static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  return pad + kCrcBytes;
}

MutableView FpduReceiver::direct() {
  if (stage_ == Stage::header || stage_ == Stage::waiting || refused_) {
    return {};
  }
  // The region may have been closed, or destroyed, since the payload began. When its trailer has
  // arrived, a whole payload is read again from its place.
  auto place = sink_.place(segment_, payload_bytes_);
  if (!place) {
    refused_ = std::move(place.error());
    place_ = {};
    return {};
  }
  place_ = *place;
  const bool splits = sink_.splits(segment_) && payload_have_ < payload_bytes_;
  direct_ = splits ? sink_.next_piece(place_, payload_have_) : place_.subspan(payload_have_);
  return direct_;
}

std::optional<Violation> FpduReceiver::placed(std::size_t count) {
  if (count == 0) {
    return std::nullopt;
  }
  if (use_crc_) {
    crc_.update(direct_.first(count));
  }
  payload_have_ += count;
  end_payload();
  return std::nullopt;
}

std::optional<Violation> FpduReceiver::take(View bytes) {
  untaken_ = 0;
  while ((!bytes.empty() || stage_ == Stage::waiting) && sink_.receiving()) {
    std::optional<Violation> violation;
    switch (stage_) {
      case Stage::header:
        violation = take_header(bytes);
        break;
      case Stage::waiting:
        if (!sink_.admits(segment_)) {
          untaken_ = bytes.size();
          return std::nullopt;
        }
        begin_payload();
        break;
      case Stage::payload:
        take_payload(bytes);
        break;
      case Stage::trailer:
        violation = take_trailer(bytes);
        break;
    }
    if (violation) {
      return violation;
    }
  }
  return std::nullopt;
}

std::optional<Violation> FpduReceiver::take_header(View& bytes) {
  header_have_ += move_front(bytes, header_.data() + header_have_, header_need_ - header_have_);
  if (header_have_ < header_need_) {
    return std::nullopt;
  }
  if (header_need_ == kUlpduLengthBytes + 2) {
    ulpdu_length_ = load16(header_.data());
    const bool tagged = starts_tagged(header_[kUlpduLengthBytes]);
    const std::size_t ddp_header = tagged ? kTaggedHeaderBytes : kUntaggedHeaderBytes;
    if (ulpdu_length_ < ddp_header) {
      return Violation{cause::kMpaLength, "ULPDU_Length " + std::to_string(ulpdu_length_) +
                                              " has no room for a DDP header of " +
                                              std::to_string(ddp_header) + " octets (RFC 5041 4)"};
    }
    header_need_ = kUlpduLengthBytes + ddp_header;
    return std::nullopt;
  }
  begin_segment();
  return std::nullopt;
}

void FpduReceiver::begin_segment() {
  crc_ = Crc32c{};
  if (use_crc_) {
    crc_.update(View(header_.data(), header_have_));
  }
  segment_ = decode_segment(header_.data() + kUlpduLengthBytes);
  payload_bytes_ = ulpdu_length_ - segment_.header_bytes();
  payload_have_ = 0;
  refused_.reset();
  stage_ = Stage::waiting;
}

void FpduReceiver::begin_payload() {
  auto place = sink_.place(segment_, payload_bytes_);
  if (place) {
    place_ = *place;
  } else {
    place_ = {};
    refused_ = std::move(place.error());
  }
  stage_ = Stage::payload;
  trailer_have_ = 0;
  end_payload();
}

void FpduReceiver::end_payload() {
  if (payload_have_ == payload_bytes_) {
    stage_ = Stage::trailer;
  }
}

void FpduReceiver::take_payload(View& bytes) {
  const View piece = bytes.first(std::min(bytes.size(), payload_bytes_ - payload_have_));
  if (use_crc_) {
    crc_.update(piece);
  }
  if (!refused_ && sink_.splits(segment_)) {
    put_pieces(piece);
  } else if (!refused_) {
    std::memcpy(place_.data() + payload_have_, piece.data(), piece.size());
  }
  payload_have_ += piece.size();
  bytes = bytes.subspan(piece.size());
  end_payload();
}

void FpduReceiver::put_pieces(View octets) {
  std::size_t have = payload_have_;
  while (!octets.empty()) {
    const MutableView to = sink_.next_piece(place_, have);
    have += move_front(octets, to.data(), to.size());
  }
}

std::optional<Violation> FpduReceiver::take_trailer(View& bytes) {
  const std::size_t need = pad_bytes(ulpdu_length_) + kCrcBytes;
  trailer_have_ += move_front(bytes, trailer_.data() + trailer_have_, need - trailer_have_);
  return trailer_have_ == need ? finish() : std::nullopt;
}

std::optional<Violation> FpduReceiver::finish() {
  const std::size_t pad = pad_bytes(ulpdu_length_);
  if (use_crc_) {
    crc_.update(View(trailer_.data(), pad));
    if (crc_.value() != load_crc(trailer_.data() + pad)) {
      return Violation{cause::kMpaCrc, "CRC mismatch (RFC 5044 4.4)"};
    }
  }
  if (refused_) {
    return std::move(refused_);
  }
  // The stage advances first: a delivery may end in a handler that asks about the stream. The
  // header stays readable until the next one begins.
  stage_ = Stage::header;
  header_have_ = 0;
  header_need_ = kUlpduLengthBytes + 2;
  ++number_;
  before_ = {ulpdu_length_, before_[0]};
  auto violation = sink_.deliver(segment_, place_);
  if (violation) {
    --number_;
  }
  return violation;
}

}  // namespace steertag::fabric::iwarp
