// XDR reading and writing.
#include "wire/xdr.h"

namespace steertag::wire {

void Reader::fail(FaultCode code, std::size_t offset, std::string_view field) {
  if (ok()) fault_ = Fault{code, offset, field};
}

bool Reader::take(std::size_t length, std::string_view field) {
  if (!ok()) return false;
  if (length > remaining()) {
    fail(FaultCode::truncated, offset_, field);
    return false;
  }
  return true;
}

std::uint32_t Reader::u32(std::string_view field) {
  if (!take(4, field)) return 0;
  const std::uint32_t value = load_u32(bytes_.data() + offset_);
  offset_ += 4;
  return value;
}

std::uint64_t Reader::u64(std::string_view field) {
  if (!take(8, field)) return 0;
  const std::uint64_t value = load_u64(bytes_.data() + offset_);
  offset_ += 8;
  return value;
}

bool Reader::boolean(std::string_view field) {
  const std::size_t at = offset_;
  const std::uint32_t value = u32(field);
  if (value > 1) fail(FaultCode::bad_boolean, at, field);
  return ok() && value == 1;
}

View Reader::opaque_fixed(std::size_t length, std::string_view field) {
  if (!ok()) return {};
  // Compare before roundup, so that a length near the top of the range cannot wrap.
  if (length > remaining() || roundup4(length) > remaining()) {
    fail(FaultCode::truncated, offset_, field);
    return {};
  }
  const View data = bytes_.subspan(offset_, length);
  for (std::size_t i = length; i < roundup4(length); ++i) {
    if (bytes_[offset_ + i] != std::byte{0}) {
      fail(FaultCode::bad_padding, offset_ + i, field);
      return {};
    }
  }
  offset_ += roundup4(length);
  return data;
}

View Reader::opaque(std::size_t limit, std::string_view field) {
  const std::size_t at = offset_;
  const std::uint32_t length = u32(field);
  if (ok() && judges_values() && length > limit) fail(FaultCode::bad_count, at, field);
  return opaque_fixed(length, field);
}

std::string_view Reader::string(std::size_t limit, std::string_view field) {
  const View data = opaque(limit, field);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

std::uint32_t Reader::count(std::size_t element_bytes, std::size_t limit, std::string_view field) {
  const std::size_t at = offset_;
  const std::uint32_t value = u32(field);
  if (!ok()) return 0;
  const bool above_limit = judges_values() && value > limit;
  if (above_limit || value > remaining() / element_bytes) {
    fail(FaultCode::bad_count, at, field);
    return 0;
  }
  return value;
}

void Reader::skip(std::size_t length, std::string_view field) {
  if (take(length, field)) offset_ += length;
}

void Writer::u32(std::uint32_t value) {
  const std::size_t at = out_.size();
  out_.resize(at + 4);
  store_u32(out_.data() + at, value);
}

void Writer::u64(std::uint64_t value) {
  const std::size_t at = out_.size();
  out_.resize(at + 8);
  store_u64(out_.data() + at, value);
}

void Writer::raw(View bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void Writer::opaque_fixed(View bytes) {
  raw(bytes);
  out_.resize(out_.size() + (roundup4(bytes.size()) - bytes.size()));
}

void Writer::opaque(View bytes) {
  u32(static_cast<std::uint32_t>(bytes.size()));
  opaque_fixed(bytes);
}

void Writer::string(std::string_view text) {
  opaque({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

void Writer::patch_u32(std::size_t offset, std::uint32_t value) {
  store_u32(out_.data() + offset, value);
}

}  // namespace steertag::wire
