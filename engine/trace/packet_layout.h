// Appends header fields in network byte order.
#pragma once

#include "support/bytes.h"

namespace steertag::trace {

class PacketLayout {
 public:
  explicit PacketLayout(Bytes& packet) : packet_(packet) {}
  void put8(std::uint8_t value) { packet_.push_back(std::byte{value}); }
  void put16(std::uint16_t value) {
    put8(static_cast<std::uint8_t>(value >> 8));
    put8(static_cast<std::uint8_t>(value));
  }
  void put32(std::uint32_t value) {
    put16(static_cast<std::uint16_t>(value >> 16));
    put16(static_cast<std::uint16_t>(value));
  }
  void put(View octets) { packet_.insert(packet_.end(), octets.begin(), octets.end()); }
  /// Replaces a field.
  void set16(std::size_t at, std::uint16_t value) {
    packet_[at] = std::byte(value >> 8);
    packet_[at + 1] = std::byte(value & 0xff);
  }
  std::size_t size() const { return packet_.size(); }
  View from(std::size_t at) const { return View(packet_).subspan(at); }

 private:
  Bytes& packet_;
};

}  // namespace steertag::trace
